import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { sealedColumn } from '../../platform/secrets/sealed.ts'
import type { GatewayName, PushEnvironment } from '../push.ts'

export interface CredentialRow {
  gateway: GatewayName
  environment: PushEnvironment | ''
  app: string
  id: string
  version: number
  secret: string
  facts: Record<string, string>
  created_at: Date
  updated_at: Date
  updated_by: string
}

/** The channel on which every change announces the id of its project. */
export const changedChannel = 'tidings_gateways'

const columns = 'gateway, environment, app, id, version, secret, facts, created_at, updated_at, updated_by'

const lock = statement(
  'gateways.lock_project',
  'select p.project_id from projects p where p.project_id = $1 and p.deleted_at is null for no key update'
)
const list = statement(
  'gateways.list',
  `select ${columns} from gateway_credentials where project_id = $1 order by gateway, app, environment`
)
const save = statement(
  'gateways.save',
  `insert into gateway_credentials (project_id, ${columns})
   select p.project_id, $2, $3, $4, $5, 1, $6, $7, $8, $8, $9 from projects p where p.project_id = $1
   on conflict (project_id, gateway, environment, app) do update
      set version = gateway_credentials.version + 1, secret = excluded.secret, facts = excluded.facts,
          updated_at = excluded.updated_at, updated_by = excluded.updated_by
   returning ${columns}`
)
const remove = statement(
  'gateways.remove',
  `delete from gateway_credentials
    where project_id = $1 and gateway = $2 and ($3::text is null or environment = $3) and ($4::text is null or app = $4)
   returning environment, app, facts`
)

/**
 * Locks the credentials of a project, so that concurrent changes run one after the other. False: the project does not
 * exist.
 */
export const lockProject = async (tx: Db, projectId: ProjectId) => (await tx.one(lock, [projectId])) !== undefined

/** All credentials of a project: they are few. */
export const listCredentials = (db: Db, projectId: ProjectId) => db.query<CredentialRow>(list, [projectId])

export const saveCredential = (
  db: Db,
  projectId: ProjectId,
  row: Pick<CredentialRow, 'gateway' | 'environment' | 'app' | 'id' | 'secret' | 'facts' | 'updated_at' | 'updated_by'>
) =>
  db.one<CredentialRow>(save, [
    projectId,
    row.gateway,
    row.environment,
    row.app,
    row.id,
    row.secret,
    row.facts,
    row.updated_at,
    row.updated_by
  ])

export const removeCredentials = (
  db: Db,
  projectId: ProjectId,
  gateway: GatewayName,
  environment: string | undefined,
  app: string | undefined
) =>
  db.query<Pick<CredentialRow, 'environment' | 'app' | 'facts'>>(remove, [
    projectId,
    gateway,
    environment ?? null,
    app ?? null
  ])

/** The context that a secret is sealed for: the secret does not open in another row. */
export const contextOf = (projectId: string, row: { gateway: string; environment: string; app: string }): string =>
  `gateway_credentials/${projectId}/${row.gateway}/${row.environment}/${row.app}`

sealedColumn({
  table: 'gateway_credentials',
  column: 'secret',
  by: ['project_id', 'gateway', 'environment', 'app'],
  context: ({ project_id, gateway, environment, app }) =>
    contextOf(project_id!, { gateway: gateway!, environment: environment!, app: app! })
})
