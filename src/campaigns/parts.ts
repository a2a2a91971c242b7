export { inParts } from '../platform/parts.ts'
