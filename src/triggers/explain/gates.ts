import type { Gate } from '../schemas.ts'

export const passed = (gate: Gate['gate'], message: string): Gate => ({ gate, passed: true, reason: null, message })

export const stopped = (gate: Gate['gate'], reason: string, message: string): Gate => ({
  gate,
  passed: false,
  reason,
  message
})
