// The service most people would write: Fastify, pg, one statement a request, as the manual of pg shows it. One endpoint,
// without keys, limits or ids of requests. With --prepared the statement has a name, so that it is planned once for each
// connection:
//   node bench/peers/naive.ts DATABASE_URL [--prepared]
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.argv[2]!, max: 10 })
await pool.query(`create table if not exists naive_users (
  project_id text not null, project_user_id text not null, id uuid not null default gen_random_uuid(),
  properties jsonb not null, created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
  primary key (project_id, project_user_id))`)

const named = process.argv.includes('--prepared') ? { name: 'upsert' } : {}
const app = Fastify()
app.post(
  '/api/v1/users',
  {
    schema: {
      body: {
        type: 'object',
        required: ['project_user_id'],
        properties: { project_user_id: { type: 'string' }, properties: { type: 'object' } }
      }
    }
  },
  async (request) => {
    const { project_user_id, properties } = request.body as { project_user_id: string; properties?: object }
    const { rows } = await pool.query({
      ...named,
      text: `insert into naive_users (project_id, project_user_id, properties) values ($1, $2, $3)
             on conflict (project_id, project_user_id)
             do update set properties = naive_users.properties || excluded.properties, updated_at = now() returning properties`,
      values: [request.headers['x-service-project-id'], project_user_id, properties ?? {}]
    })
    return { properties: rows[0].properties }
  }
)
await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`is ready at http://127.0.0.1:${(app.server.address() as { port: number }).port}`)
process.on('SIGTERM', () => process.exit(0))
