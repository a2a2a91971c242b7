import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Task, TaskState } from '../../src/a2a/model.ts'
import { moved, newTask, written } from '../../src/a2a/tasks/changes.ts'
import { createWaits } from '../../src/a2a/tasks/waits.ts'
import type { Pool } from '../../src/platform/db/db.ts'
import type { ProjectId } from '../../src/platform/ids.ts'

const projectId = 'p' as ProjectId
const pool = { run: async () => 1 } as Partial<Pool> as Pool
const working = moved(newTask({ messageId: 'm', role: 'user', parts: [] }, { fields: {} }, 'plain'), 'working')
const later = (state: TaskState) => written(moved(working, state))

/** Waits with a watch that the test drives; `stored` is the task that the database returns. */
function given({ stored = working, longestMs = 60_000 } = {}) {
  const watchers = new Set<(task: Task) => void>()
  const watch = {
    subscribe(_: ProjectId, _task: Task, watcher: (task: Task) => void) {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    }
  }
  const waits = createWaits({ pool, watch, longestMs, tasks: { find: async () => stored } })
  return {
    watchers,
    waits,
    publish: (task: Task) => {
      for (const watcher of watchers) watcher(task)
    }
  }
}

describe('a wait for a task', () => {
  it('ends when the task ends or asks, and leaves no watcher behind', async () => {
    for (const state of ['completed', 'input-required'] as const) {
      const { waits, watchers, publish } = given()
      const waiting = waits.settled(projectId, working)
      publish(written(working))
      publish(written(later(state)))
      assert.equal((await waiting).status.state, state)
      assert.equal(watchers.size, 0)
    }
  })

  it('ends at once where the task settled before or meanwhile', async () => {
    const { waits } = given()
    const done = later('completed')
    assert.equal(await waits.settled(projectId, done), done)
    assert.equal(await given({ stored: done }).waits.settled(projectId, working), done)
  })

  it('returns the task as it is after the limit, and when the node stops', async () => {
    const short = given({ longestMs: 5 })
    assert.equal(await short.waits.settled(projectId, working), working)
    const { waits, watchers } = given()
    const waiting = waits.settled(projectId, working)
    waits.close()
    assert.equal(await waiting, working)
    assert.equal(watchers.size, 0)
  })
})
