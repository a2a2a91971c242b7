import { Badge } from '@mantine/core'

const colors = new Map([
  ['completed', 'teal'],
  ['failed', 'red'],
  ['rejected', 'red'],
  ['canceled', 'gray'],
  ['input-required', 'orange'],
  ['auth-required', 'orange']
])

export const TaskState = ({ state }: { state: string }) => (
  <Badge color={colors.get(state) ?? 'cyan'} variant="light">
    {state}
  </Badge>
)
