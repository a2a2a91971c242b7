import { type Static, Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import { kinds, resumeInstallation, waitingNow } from './resuming.ts'

const Count = Type.Object(
  { due: Type.Integer({ description: 'Due by now.' }), later: Type.Integer({ description: 'Due later.' }) },
  { additionalProperties: false }
)
const said: Record<(typeof kinds)[number], string> = {
  triggers: 'Triggers that were accepted, under way or scheduled.',
  messages: 'Messages of direct sends, and of triggers that were under way.',
  journeys: 'Users who wait for the next message of a campaign.',
  schedules: 'Schedules of campaigns that missed an occurrence.',
  events: 'Events that no campaign has reacted to yet.',
  channel_updates: 'Updates and ends of Live Activity channels.',
  agent_tasks: 'Tasks of agents whose skill was running.'
}
export const WaitingAnswer = Type.Object(
  Object.fromEntries(kinds.map((kind) => [kind, { ...Count, description: said[kind] }])) as Record<
    (typeof kinds)[number],
    typeof Count
  >,
  { description: 'What waits in a restored installation to be sent.' }
)
const notPaused = () => new Refusal('conflict', 'The installation is not paused: it was not restored, or was resumed.')

/** The resume of an installation that was restored from a backup. For its administrators. */
export function resumeRoutes(manage: Routes<ManageCaller, ManageAccess>, pool: Pool): void {
  manage.get(
    '/installation/waiting',
    {
      summary: 'Count what waits in a restored installation, before it is resumed',
      access: 'installation',
      answer: WaitingAnswer,
      refusals: ['conflict']
    },
    async (): Promise<Static<typeof WaitingAnswer>> => {
      const waiting = await waitingNow(pool)
      if (!waiting) throw notPaused()
      return waiting
    }
  )

  manage.post(
    '/installation::resume',
    {
      summary:
        'Resume a restored installation. What waited is sent, or canceled first: what was due by now (`due`), or everything (`all`)',
      access: 'installation',
      body: Type.Object({
        discard: Type.Optional(
          Type.Union([Type.Literal('none'), Type.Literal('due'), Type.Literal('all')], {
            description: 'What is canceled. `none` also ends a discard that is under way. Default: nothing.'
          })
        )
      }),
      bodyKind: 'optional',
      answer: Type.Object({
        discarding: Type.Boolean({ description: 'It stays paused until everything that waited is canceled.' })
      }),
      refusals: ['conflict'],
      example: { discard: 'due' }
    },
    async ({ caller, body }) => {
      const done = await pool.transaction((tx) => resumeInstallation(tx, caller.actor, body.discard))
      if (done === 'not_paused') throw notPaused()
      if (done === 'busy')
        throw new Refusal('conflict', 'What waited is being canceled. The installation continues when that is done.')
      return { discarding: done === 'discarding' }
    }
  )
}
