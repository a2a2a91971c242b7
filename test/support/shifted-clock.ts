// Loaded before a node (NODE_OPTIONS=--import=…): SIGUSR2 moves its clock two hours ahead, and the next one moves it
// back. This affects only the wall clock: a monotonic clock never jumps.

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
