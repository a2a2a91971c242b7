export const taskStates = [
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'rejected',
  'input-required',
  'auth-required'
] as const

export type TaskState = (typeof taskStates)[number]
