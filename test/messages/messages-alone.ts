import type { TestContext } from 'node:test'
import type { Draft } from '../../src/channels/channels.ts'
import { messageMonths } from '../../src/messages/jobs.ts'
import { createMessages, createPauses, type MessagesOptions } from '../../src/messages/messages.ts'
import { makePartitions } from '../../src/platform/db/partitions.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { createMetrics } from '../../src/platform/metrics.ts'
import { testPool } from '../support/database.ts'
import { silentLog } from '../support/log.ts'
import { scriptedSender } from '../support/sender.ts'

export const projectId = 'p' as ProjectId

/** The messages capability alone, as triggers use it: a project, one user, and a sender that the test directs. */
export async function messagesAlone(
  t: TestContext,
  options: Pick<MessagesOptions, 'nodeId' | 'onSettled' | 'journalFolder' | 'canceledAmong'> = {}
) {
  const pool = await testPool(t)
  const at = new Date()
  await makePartitions(pool, messageMonths, at)
  const sql = async (text: string, values: unknown[] = []) => {
    const client = await pool.connect()
    return (await client.query(text, values).finally(() => client.end())).rows
  }
  const userId = newId()
  await sql(`insert into projects values ($1, 'P', 'live', 'standard', '{}', '{}', $2)`, [projectId, at])
  await sql(
    `insert into users (project_id, id, project_user_id, properties, created_at, updated_at) values ($1, $2, 'ana', '{}', $3, $3)`,
    [projectId, userId, at]
  )
  const sender = scriptedSender()
  const credentials = { project: async () => undefined }
  const messages = createMessages({
    pool,
    carriers: { sender },
    log: silentLog,
    metrics: createMetrics(),
    idempotencyHours: 24,
    credentials,
    pauses: createPauses(pool, credentials),
    ...options
  })
  const draft = (triggerId: string, deviceId: string, more: Partial<Draft> = {}): Draft => ({
    messageId: newId(),
    triggerId,
    campaignId: 'welcome',
    userId,
    endpoint: { deviceId, gateway: 'apns', environment: 'production', app: null, token: deviceId, registeredAt: at },
    content: { kind: 'alert', notification: { title: 'Hello' } },
    collapseId: triggerId,
    priority: 'normal',
    notAfter: Date.now() + 3_600_000,
    ...more
  })
  return { pool, sql, sender, messages, draft, userId, at }
}
