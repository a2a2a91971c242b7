import { isDeepStrictEqual } from 'node:util'
import type { Db, Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import { Refusal } from '../../platform/errors.ts'
import { checkChosenId } from '../../platform/fields.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { readJson } from '../../platform/json/names.ts'
import { recordAudit } from '../../projects/projects.ts'
import { checkPatterns } from '../check-patterns.ts'
import type { Segment } from '../language.ts'
import { parseSegment } from '../parse.ts'
import { idsIn, writeOut } from './refs.ts'
import * as store from './store.ts'
import { loadKnown } from './whole.ts'

/** Saved segments that one project may have. */
const mostSaved = 1_000

/** The campaigns that use saved segments. */
export interface Users {
  /** The campaigns that refer to a saved segment, by way of others too, at most 20. Archived ones do not count. */
  using(db: Db, projectId: ProjectId, segmentId: string): Promise<string[]>
  /** Gives each campaign that refers to a saved segment a new version with the changed segment. */
  renew(tx: Db, projectId: ProjectId, actor: string, segmentId: string): Promise<void>
}

export interface SavedSegment extends store.SavedRow {
  campaigns: string[]
}

export type Saving = ReturnType<typeof createSaving>

export const checkSegmentId = (id: unknown): string =>
  checkChosenId(id, 255, (message) => new Refusal('invalid_parameter', `segment_id: ${message}`))

/** Saves segments by name. A change reaches the campaigns that use the segment in the same transaction. */
export function createSaving(pool: Pool, campaigns: Users) {
  const audit = (
    tx: Db,
    projectId: ProjectId,
    actor: string,
    verb: string,
    id: string,
    details: Record<string, unknown>
  ) => recordAudit(tx, projectId, { actor, action: `segment.${verb}`, target: id, details })

  const shown = async (db: Db, projectId: ProjectId, row: store.SavedRow): Promise<SavedSegment> => ({
    ...row,
    campaigns: await campaigns.using(db, projectId, row.id)
  })

  return {
    async put(
      projectId: ProjectId,
      actor: string,
      segmentId: unknown,
      body: { name: string; segment: unknown }
    ): Promise<SavedSegment & { result: 'created' | 'updated' | 'unchanged' }> {
      const id = checkSegmentId(segmentId)
      const segment = parseSegment(body.segment)
      await checkPatterns(pool, projectId, segment)
      const save = async (tx: Db) => {
        if (!(await store.lockSaved(tx, projectId))) throw new Refusal('not_found', 'There is no such project.')
        const before = await store.findSaved(tx, projectId, id)
        const { name } = body
        const same = before && isDeepStrictEqual(before.segment, readJson(JSON.stringify(segment)))
        if (before && same && before.name === name)
          return { ...(await shown(tx, projectId, before)), result: 'unchanged' as const }
        await checkAll(tx, projectId, id, segment)
        await store.putSaved(tx, projectId, { id, name, segment, refs: idsIn(segment) }, new Date())
        if (before && !same) await campaigns.renew(tx, projectId, actor, id)
        const row = (await store.findSaved(tx, projectId, id))!
        await audit(tx, projectId, actor, before ? 'update' : 'create', id, {
          name,
          version: row.version,
          ...(before && before.name !== name && { before: { name: before.name } })
        })
        return { ...(await shown(tx, projectId, row)), result: before ? ('updated' as const) : ('created' as const) }
      }
      return againIfRaced(() => pool.transaction(save))
    },

    async get(projectId: ProjectId, segmentId: unknown): Promise<SavedSegment> {
      const id = checkSegmentId(segmentId)
      const row = await store.findSaved(pool, projectId, id)
      if (!row) throw notFound(id)
      return shown(pool, projectId, row)
    },

    list: (projectId: ProjectId, after: [Date, string] | undefined, limit: number) =>
      store.listSaved(pool, projectId, after, limit),

    /** Deletes a saved segment that neither a campaign nor another saved segment uses. */
    async remove(projectId: ProjectId, actor: string, segmentId: unknown): Promise<void> {
      const id = checkSegmentId(segmentId)
      await pool.transaction(async (tx) => {
        await store.lockSaved(tx, projectId)
        const row = await store.findSaved(tx, projectId, id)
        if (!row) throw notFound(id)
        const using = await campaigns.using(tx, projectId, id)
        const others = (await store.linksOf(tx, projectId)).filter(({ refs }) => refs.includes(id))
        if (using.length + others.length > 0)
          throw inUse(
            id,
            using,
            others.map((one) => one.id)
          )
        await store.deleteSaved(tx, projectId, id)
        await audit(tx, projectId, actor, 'delete', id, { name: row.name, version: row.version })
      })
    }
  }
}

/** Checks the segment and every saved segment that refers to it, by way of others too, with the change. */
async function checkAll(tx: Db, projectId: ProjectId, id: string, segment: Segment): Promise<void> {
  const links = await store.linksOf(tx, projectId)
  if (links.length >= mostSaved && !links.some((one) => one.id === id))
    throw new Refusal('conflict', `A project has at most ${mostSaved} saved segments.`)
  const changed = new Map([[id, segment]])
  writeOut(segment, await loadKnown(tx, projectId, [segment], changed), { own: id })
  const dependents = dependentsOf(id, links)
  if (dependents.length === 0) return
  const others = await store.loadSaved(tx, projectId, dependents)
  const known = await loadKnown(tx, projectId, [...others.values()], changed)
  for (const [other, one] of others)
    writeOut(one, known, { path: `segment, as used by the saved segment "${other}"`, own: other })
}

function dependentsOf(id: string, links: { id: string; refs: string[] }[]): string[] {
  const found = new Set([id])
  for (const one of found) for (const other of links) if (other.refs.includes(one)) found.add(other.id)
  found.delete(id)
  return [...found]
}

function inUse(id: string, campaigns: string[], segments: string[]): Refusal {
  const named = (kind: string, ids: string[]) =>
    ids.length > 0
      ? [
          `${kind} ${ids
            .slice(0, mostNamed)
            .map((one) => `"${one}"`)
            .join(', ')}`
        ]
      : []
  const users = [...named('the campaigns', campaigns), ...named('the saved segments', segments)].join(' and ')
  return new Refusal('conflict', `The saved segment "${id}" is used by ${users}.`)
}

const mostNamed = 20
export const notFound = (id: string) => new Refusal('not_found', `There is no saved segment "${id}".`)
