import type { KeyObject } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import { eraseKeyWindow } from '../platform/idempotency/idempotency.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { JobDefinition } from '../platform/jobs/definition.ts'
import { add } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { askedUrl } from '../platform/net/asked-url.ts'
import { version } from '../platform/version.ts'
import type { ApiCaller, Project } from '../projects/projects.ts'
import { createCardSigner } from './card-signer.ts'
import { tenantMark } from './dialects/choose.ts'
import type { CardFacts } from './dialects/dialect.ts'
import { withExtension } from './extension.ts'
import { keepTasksJob, recoverTasksJob, runTaskJob } from './jobs.ts'
import type { Task } from './model.ts'
import { createOperations } from './operations.ts'
import { createPerform } from './perform.ts'
import { createConfigs, type DropCalls, type Enqueue, type RefuseAddress } from './push-configs/push-configs.ts'
import type { Capabilities } from './skills/capabilities.ts'
import type { Skill } from './skills/skill.ts'
import { createSkills, onCard, textsOf } from './skills/skills.ts'
import { createCanceling } from './tasks/canceling.ts'
import { createClosing } from './tasks/closing.ts'
import { addressed } from './tasks/contexts.ts'
import { createDeciding } from './tasks/deciding.ts'
import { createEngine } from './tasks/engine.ts'
import { createRunner, type Runner } from './tasks/runner.ts'
import { createRuns } from './tasks/runs.ts'
import { eraseTaskWindow } from './tasks/store.ts'
import { createStreams } from './tasks/streams.ts'
import { createTasks } from './tasks/tasks.ts'
import { createTotals } from './tasks/totals.ts'
import { createWaits } from './tasks/waits.ts'
import { createWatch } from './tasks/watch.ts'
import { createGrammar } from './text/grammar.ts'
import type { ReadText } from './turns/meaning.ts'
import { askWith, createOversee } from './turns/oversee.ts'
import { createPoliced } from './turns/policed.ts'
import { createTextModel, type TextModelSettings } from './turns/text-model.ts'
import { readBy } from './turns/texts.ts'

export interface AgentsOptions {
  pool: Pool
  listener: Listener
  log: Log
  metrics: Metrics
  /** Seals the secrets of webhooks. */
  key: Buffer
  does: Capabilities
  /** Skills in addition to those of the table. */
  moreSkills?: Skill[]
  readText?: ReadText
  /** A language model that reads the texts the grammar does not understand. */
  textModel?: TextModelSettings | undefined
  projectOf: (id: ProjectId) => Promise<Project | undefined>
  enqueue: Enqueue
  dropCalls: DropCalls
  refuseAddress: RefuseAddress
  publicUrl: string | undefined
  /** Whether the card asks official clients to mark their calls. */
  markTenant: boolean
  /** The key that signs agent cards; without it they are unsigned. */
  cardKey?: KeyObject | undefined
  idempotencyHours: number
  retentionDays: number
  /** The limits and the intervals of open streams; tests lower them. */
  streams?: { ofProject?: number; ofNode?: number; recheckMs?: number }
}

export type Agents = ReturnType<typeof createAgents>

/** The A2A surface: agents' tasks, which call the same capabilities as the REST API. */
export function createAgents(options: AgentsOptions) {
  const { pool, listener, log, metrics, key, enqueue, dropCalls, refuseAddress, idempotencyHours, publicUrl } = options
  const { oversight } = options.does
  const dropApproval = oversight.approvals.drop
  const skills = createSkills(options.does, options.moreSkills)
  const grammar = createGrammar(textsOf(skills))
  const textModel = options.textModel && createTextModel({ ...options.textModel, skills, grammar, log, metrics })
  const runs = createRuns(pool, log)
  const watch = createWatch({ pool, listener, log, interested: runs.has, changed: runs.changed })
  const streams = createStreams(watch, options.streams)
  const configs = createConfigs({ pool, key, enqueue, dropCalls, refuseAddress })
  const tasks = createTasks({
    pool,
    metrics,
    idempotencyHours,
    onChange: async (tx: Db, projectId: ProjectId, task: Task, from: number) => {
      await configs.notify(tx, projectId, task, from)
      await watch.announce(tx, projectId, task.id)
    },
    published: (_, task) => watch.publish(task)
  })
  const runJob = runTaskJob((): Runner => runner)
  const schedule = (tx: Db, projectId: ProjectId, taskId: string) =>
    add(tx, runJob, { projectId, taskId }, { projectId, key: taskId })
  const runner: Runner = createRunner({
    log,
    tasks,
    runs,
    skills,
    schedule,
    projectOf: options.projectOf,
    dropApproval
  })
  const readText = options.readText ?? readBy(grammar.read, textModel?.read)
  const engine = createEngine({
    tasks,
    runner,
    skills,
    readText,
    oversee: createPoliced({
      oversee: createOversee(oversight),
      oversight,
      askToConfirm: askWith(oversight),
      skills
    }),
    answers: (projectId, caller, message) => addressed(pool, projectId, caller, message),
    closingOf: createClosing(pool, tasks),
    attach: configs.attach,
    schedule
  })
  const signer = options.cardKey && createCardSigner(options.cardKey)
  const canceling = createCanceling({ tasks, skills, watch, idempotencyHours, dropApproval })
  const waits = createWaits({ pool, tasks, watch })
  const operations = createOperations({
    pool,
    engine,
    canceling,
    tasks,
    configs,
    streams,
    waits,
    totals: createTotals(pool)
  })
  const baseUrlOf = (request: FastifyRequest) => publicUrl?.replace(/\/+$/, '') ?? askedUrl(request)
  const listed = onCard([...skills.values()].filter(({ extension }) => !extension))

  return {
    ...operations,
    /** Cancels the tasks whose skill was running in a backup. */
    discard: canceling.discard,
    decided: createDeciding(tasks, schedule),
    perform: createPerform({ pool, engine, tasks, skills, readText, oversight: options.does.oversight }),
    skills,
    startedAt: new Date(),
    cardKeys: signer?.jwks,
    baseUrlOf,
    /** The card for a caller that named our extension, with the skills that the policy of its key allows. */
    wholeCardFacts(request: FastifyRequest, { key }: ApiCaller): CardFacts {
      return withExtension(this.cardFacts(request), skills, key?.policy?.skills ?? null)
    },
    cardFacts(request: FastifyRequest): CardFacts {
      const baseUrl = baseUrlOf(request)
      return {
        baseUrl,
        url: `${baseUrl}/a2a`,
        description:
          'Manages the users of a messaging service and reaches them: creates users, tracks events, sends push notifications and triggers campaigns.',
        skills: listed,
        tenant: options.markTenant ? tenantMark : undefined,
        version,
        signaturesOf: signer && ((card) => signer.signaturesOf(card, baseUrl))
      }
    },
    jobs: [
      runJob as JobDefinition<never>,
      recoverTasksJob(pool, () => runner) as JobDefinition<never>,
      keepTasksJob(pool, options.retentionDays, idempotencyHours) as JobDefinition<never>
    ],
    /** Deletes one batch of tasks and keys of a project that is being erased. */
    eraseWindow: async (db: Db, projectId: ProjectId): Promise<number> =>
      (await eraseTaskWindow(db, projectId)) + (await eraseKeyWindow(db, projectId)),
    /** The number of open streams, watches and runs; for tests, which look for leaks. */
    stats: () => ({ ...streams.stats(), ...watch.stats(), running: runs.size() }),
    /** Ends the streams and waits before the server stops, so that it does not wait for them. */
    async endStreams(): Promise<void> {
      streams.close()
      waits.close()
    },
    async close(): Promise<void> {
      streams.close()
      waits.close()
      watch.close()
      runs.close()
      textModel?.close()
    }
  }
}
