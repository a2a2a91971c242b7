import { Alert } from '@mantine/core'
import { useNodes } from '../api/nodes.ts'

/** Warns on every page: requests are accepted, and nothing runs them until a worker starts. */
export function NoWorker() {
  const nodes = useNodes().data?.items
  if (!nodes || nodes.length === 0 || nodes.some(({ role }) => role !== 'api')) return null
  return (
    <Alert color="red" mb="md" role="status" title="No node runs jobs">
      Triggers, retries, agent tasks and webhooks are waiting. Start a node with --role worker or --role all.
    </Alert>
  )
}
