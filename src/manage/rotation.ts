import { parseDuration } from '../platform/duration.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import type { Routes } from '../platform/http/routes.ts'
import { isUuid } from '../platform/ids.ts'
import { readTime, timeRule } from '../platform/time.ts'
import type { ManageAccess, ManageCaller, Projects } from '../projects/projects.ts'
import { wireNewKey } from './responses.ts'
import { RotatedKey, RotateKey } from './schemas.ts'

const dayMs = 86_400_000
const usualOverlapMs = dayMs
/** A rotation that leaves the old key for longer is not one. */
const mostOverlapMs = 30 * dayMs
const overlapRule = 'must be a duration such as 15m, 24h or 7d (s, m, h, d, w), from 0s to 30d'

export function rotationRoutes(manage: Routes<ManageCaller, ManageAccess>, projects: Projects): void {
  manage.post(
    '/projects/:project_id/keys/:key_id([^:]+)::rotate',
    {
      summary: 'Replace a key: returns a new one, and the old one works until the overlap ends',
      access: 'admin',
      body: RotateKey,
      bodyKind: 'optional',
      answer: RotatedKey,
      status: 201,
      refusals: ['not_found', 'conflict', 'invalid_parameter'],
      example: { overlap: '24h' }
    },
    async ({ caller, body, params: { key_id: id = '' } }) => {
      const [overlapMs, expiresAt] = [overlapOf(body.overlap), expiryOf(body.expires_at)]
      if (!isUuid(id)) throw new Refusal('not_found', 'There is no such key.')
      const rotated = await projects.rotateKey(caller.actor, caller.project!.id, id, overlapMs, expiresAt)
      return { ...wireNewKey(rotated), replaces: rotated.replaces }
    }
  )
}

function overlapOf(text: string | null | undefined): number {
  if (text === undefined || text === null) return usualOverlapMs
  const ms = /^0[smhdw]$/.test(text) ? 0 : parseDuration(text)
  if (ms === undefined || ms > mostOverlapMs) throw wrong('overlap', overlapRule)
  return ms
}

/** When a key is to end; null where it is not. */
export function expiryOf(text: string | null | undefined): Date | null {
  if (text === undefined || text === null) return null
  const at = readTime(text)
  if (!at) throw wrong('expires_at', timeRule)
  if (at.getTime() <= Date.now()) throw wrong('expires_at', 'must be in the future')
  return at
}

const wrong = refusing('invalid_parameter')
