import { readJson } from '../../platform/json/names.ts'
import { copiesIn, removeCopy } from './copies-store.ts'
import type { About } from './rewriting.ts'
import { rewriteCopy, setApprovalFacts } from './rewriting-store.ts'

/** The agent reads it, and people on the page of the approval. */
const reason = 'A user that the request names was erased.'

/**
 * Deletes approvals that name the user. One that waits for a person keeps waiting if only its sample names the user, because the
 * action is about many others: then the entries of the sample go. Otherwise it is rejected first, so that its task ends.
 */
export async function eraseApprovals(about: About): Promise<void> {
  const { pool, projectId, texts, mentioned, touched, rejectApproval } = about
  for await (const { id, text, more } of copiesIn(pool, projectId, 'approvals', texts)) {
    if (!mentioned(text)) continue
    if (more !== 'pending' || !(await eraseFromSample(about, id))) {
      if (more === 'pending') await rejectApproval(projectId, id, reason)
      if (!(await removeCopy(pool, projectId, 'approvals', id))) continue
    }
    touched.add('approvals', id)
  }
}

/** Returns false if the approval is decided, or if more than its sample names the user. */
const eraseFromSample = ({ pool, projectId, mentioned }: About, id: string): Promise<boolean> =>
  rewriteCopy(pool, projectId, 'approvals', id, async (tx, text) => {
    const [command, facts] = readJson(text) as [object, { sample: object[] }]
    const left = { ...facts, sample: facts.sample.filter((entry) => !mentioned(JSON.stringify(entry))) }
    if (mentioned(JSON.stringify([command, left]))) return false
    await setApprovalFacts(tx, projectId, id, left)
    return true
  })

/** Rejects the approval that a task waits for, before the task is deleted: no person could have it done any more. */
export async function rejectWaiting({ projectId, rejectApproval }: About, task: string): Promise<void> {
  const { request } = readJson(task) as { request: { approvalId?: string } }
  if (request.approvalId !== undefined) await rejectApproval(projectId, request.approvalId, reason)
}
