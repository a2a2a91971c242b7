import { Badge } from '@mantine/core'
import type { Campaign } from '../../../../wire.ts'

const colors: Record<Campaign['status'], string> = { draft: 'gray', active: 'teal', paused: 'orange', archived: 'dark' }
export const StatusBadge = ({ status }: { status: Campaign['status'] }) => (
  <Badge color={colors[status]} variant="light">
    {status}
  </Badge>
)
