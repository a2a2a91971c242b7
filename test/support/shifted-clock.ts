// Loaded before a node (NODE_OPTIONS=--import=…): with SIGUSR2 its clock jumps two hours ahead, and with the next one back.
// Only the wall clock: a monotonic one does not jump on any machine.

const hoursMs = 2 * 3_600_000
const Real = Date
let shiftMs = 0

globalThis.Date = class extends Real {
  constructor(...given: ConstructorParameters<typeof Real> | []) {
    if (given.length === 0) super(Real.now() + shiftMs)
    else super(...given)
  }
  static override now(): number {
    return Real.now() + shiftMs
  }
} as DateConstructor

process.on('SIGUSR2', () => {
  shiftMs = shiftMs === 0 ? hoursMs : 0
})
