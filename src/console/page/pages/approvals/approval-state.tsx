import { Badge } from '@mantine/core'
import type { Approval } from '../../../../wire.ts'

const colors: Record<Approval['state'], string> = {
  pending: 'orange',
  approved: 'teal',
  rejected: 'red',
  expired: 'gray',
  superseded: 'gray',
  canceled: 'gray'
}

export const ApprovalState = ({ state }: { state: Approval['state'] }) => (
  <Badge color={colors[state]} variant="light">
    {state === 'pending' ? 'waiting' : state}
  </Badge>
)
