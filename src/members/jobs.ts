import type { Pool } from '../platform/db/db.ts'
import { recurring } from '../platform/jobs/definition.ts'
import { sweepLinks } from './link-store.ts'
import { sweepChallenges } from './passkeys/store.ts'
import { sweepMembers } from './store.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Deletes expired links, and removed members whose names no audit log needs any more. */
export const sweepMembersJob = (pool: Pool, auditDays: number) =>
  recurring({
    name: 'members.sweep',
    everyMs: hourMs,
    async run() {
      await sweepLinks(pool, new Date())
      await sweepChallenges(pool, new Date())
      await sweepMembers(pool, new Date(Date.now() - auditDays * dayMs))
    }
  })
