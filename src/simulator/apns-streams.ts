import type { Connection } from './connection.ts'

/**
 * Apple allows one stream until it has accepted a push, and may go back to one after a refusal. Changes wait for the
 * client to confirm the last one: Node allows few unconfirmed SETTINGS, and only the newest limit matters.
 */
export function followStreamLimit(connection: Connection, limit: number): void {
  const { session } = connection
  if (!session || session.destroyed || session.closed) return
  const current = connection.streamLimit ?? 1
  connection.streamLimit = limit
  if (current !== limit && !connection.settingsPending) announce(connection)
}

function announce(connection: Connection): void {
  const { session, streamLimit } = connection
  if (!session || session.destroyed || session.closed || streamLimit === undefined) return
  connection.settingsPending = true
  session.settings({ maxConcurrentStreams: streamLimit }, () => {
    connection.settingsPending = false
    if (connection.streamLimit !== streamLimit) announce(connection)
  })
}
