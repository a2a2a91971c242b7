import { Alert } from '@mantine/core'

/** What was typed stays in the page, and lists show what was read last. */
export const ConnectionLost = () => (
  <Alert color="orange" mb="md" role="status">
    Connection lost. Reconnecting…
  </Alert>
)
