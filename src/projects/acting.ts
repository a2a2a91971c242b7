import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { isUuid } from '../platform/ids.ts'
import type { ApiAccess } from './admission.ts'
import type { ApiCaller } from './credentials.ts'
import { findSecretKey } from './store.ts'

/** The header by which a person acts within the policy of a key. */
export const actingKeyHeader = 'x-tidings-key'

type Admit = (request: FastifyRequest, reply: FastifyReply, access?: ApiAccess) => Promise<ApiCaller>

/**
 * Lets the caller of a management route try what an agent with a key may do. The caller stays the author, and the policy
 * of the key applies to it as well: this takes rights away and gives none.
 */
export const actingWithKey =
  (db: Db, admit: Admit): Admit =>
  async (request, reply, access) => {
    const caller = await admit(request, reply, access)
    const id = request.headers[actingKeyHeader]
    if (id === undefined || id === '') return caller
    const row = typeof id === 'string' && isUuid(id) ? await findSecretKey(db, caller.project.id, id) : undefined
    if (!row) throw new Refusal('not_found', 'The project has no valid secret key with this id.')
    const { kind, name, policy, origin_id } = row
    return { ...caller, key: { id: row.id, kind, name, policy, originId: origin_id ?? row.id } }
  }
