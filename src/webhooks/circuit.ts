import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'

/** Failures in a row after which calls to a destination pause for a while … */
const failuresToOpen = 5
const firstRestMs = 5_000
const longestRestMs = 5 * 60_000
/** … and the most calls to one destination, and of one project, at a time. */
const perDestination = 8
const perProject = 24
/** The most calls of a project that take no turn: test events. They use the sockets that all projects share. */
const testsPerProject = 8
/** The most remembered destinations that fail. Dropping one only costs an early attempt. */
const mostKnown = 10_000

interface Destination {
  inFlight: number
  failures: number
  restsUntil: number
  /** The time of the next waiting call; keeps a thousand waiting calls from trying all at once. */
  turnAt: number
  meanMs: number
}

export type Turn =
  | {
      go: true /** Tells how it ended; undefined: it says nothing about the destination. */
      end(ok: boolean | undefined): void
    }
  | { go: false; waitMs: number; resting: boolean }

/**
 * Keeps a slow or dead destination from occupying the senders. State is kept by project and origin: how a receiver
 * treats one project says nothing about another project at the same host. State is in memory: each node learns
 * separately.
 */
export function createCircuits(now: () => number = steadyMs) {
  const known = new Map<string, Destination>()
  const byProject = new Map<ProjectId, number>()
  const tests = new Map<ProjectId, number>()

  function find(key: string): Destination {
    const found = known.get(key)
    if (found) return found
    if (known.size >= mostKnown) {
      for (const [other, { inFlight }] of known) {
        if (inFlight > 0) continue
        known.delete(other)
        break
      }
    }
    const fresh = { inFlight: 0, failures: 0, restsUntil: 0, turnAt: 0, meanMs: 50 }
    known.set(key, fresh)
    return fresh
  }

  return {
    enter(projectId: ProjectId, origin: string): Turn {
      const key = `${projectId} ${origin}`
      const destination = find(key)
      const at = now()
      if (destination.restsUntil > at)
        return { go: false, resting: true, waitMs: (destination.restsUntil - at) * (1 + Math.random() / 4) }
      const busy = byProject.get(projectId) ?? 0
      // After the pause a single call tests whether the destination works again.
      const most = destination.failures >= failuresToOpen ? 1 : perDestination
      if (destination.inFlight >= most || busy >= perProject) {
        destination.turnAt = Math.max(at, destination.turnAt) + destination.meanMs / most
        return { go: false, resting: false, waitMs: Math.min(destination.turnAt - at + 20, 30_000) }
      }
      destination.inFlight += 1
      count(byProject, projectId, 1)
      return {
        go: true,
        end(ok) {
          destination.inFlight -= 1
          count(byProject, projectId, -1)
          destination.meanMs = destination.meanMs * 0.8 + (now() - at) * 0.2
          if (ok === true) destination.failures = 0
          if (ok === false && ++destination.failures >= failuresToOpen)
            destination.restsUntil =
              now() + Math.min(firstRestMs * 2 ** (destination.failures - failuresToOpen), longestRestMs)
          if (destination.inFlight === 0 && destination.failures === 0 && destination.turnAt <= now()) known.delete(key)
        }
      }
    },
    /** For a test event, which is sent whatever its destination did. Returns false if the project has too many in flight. */
    beginTest(projectId: ProjectId): boolean {
      if ((tests.get(projectId) ?? 0) >= testsPerProject) return false
      count(tests, projectId, 1)
      return true
    },
    endTest: (projectId: ProjectId) => count(tests, projectId, -1),
    stats() {
      const all = [...known.values()]
      const resting = all.filter(({ restsUntil }) => restsUntil > now()).length
      return { in_flight: all.reduce((sum, { inFlight }) => sum + inFlight, 0), resting }
    }
  }
}

function count(counts: Map<ProjectId, number>, projectId: ProjectId, by: 1 | -1): void {
  const left = (counts.get(projectId) ?? 0) + by
  if (left > 0) counts.set(projectId, left)
  else counts.delete(projectId)
}

export type Circuits = ReturnType<typeof createCircuits>
