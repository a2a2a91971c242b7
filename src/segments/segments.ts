export { checkPatterns } from './check-patterns.ts'
export { type CompiledSegment, compileSegment } from './compile.ts'
export { instantRule } from './instant.ts'
export { countOperators, fixedAttributes, operators, type Segment, segmentLimits } from './language.ts'
export { parseSegment, readSegment } from './parse.ts'
export {
  countBatch,
  findReachable,
  firstUser,
  matchBatch,
  matchDevices,
  matchGroups,
  matchUsers,
  type Place,
  type SegmentAt,
  SegmentFailed
} from './store.ts'
export { patiently, SegmentBusy } from './turns.ts'
