// A Fastify service that keeps users in Tidings and greets new ones by a campaign.
//   npm install fastify    (README.md says how to install tidings)
//   TIDINGS_URL=http://127.0.0.1:8080 TIDINGS_PROJECT=demo TIDINGS_SECRET_KEY=svc_sk_… node fastify.js
//   curl -X POST http://127.0.0.1:3000/signups -H 'Content-Type: application/json' -d '{"id":"demo-user","plan":"free"}'
import Fastify from 'fastify'
import { createClient, TidingsError } from 'tidings/client'

const { TIDINGS_URL, TIDINGS_PROJECT, TIDINGS_SECRET_KEY, CAMPAIGN = 'welcome', PORT = '3000' } = process.env
const app = Fastify()
app.decorate('tidings', createClient({ url: TIDINGS_URL, projectId: TIDINGS_PROJECT, apiKey: TIDINGS_SECRET_KEY }))

const body = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', minLength: 1 }, plan: { type: 'string' } }
}

app.post('/signups', { schema: { body } }, async ({ body: { id, plan = 'free' } }, reply) => {
  const properties = await app.tidings.users.create(id, { plan })
  const audience = { targets: [{ project_user_id: id }] }
  const trigger = await app.tidings.campaigns.trigger(CAMPAIGN, { audience }, { idempotencyKey: `welcome-${id}` })
  return reply.code(201).send({ properties, trigger })
})

app.setErrorHandler((error, request, reply) => {
  if (!(error instanceof TidingsError)) return reply.send(error)
  request.log.error({ code: error.code, requestId: error.requestId }, error.message)
  return reply.code(error.kind === 'request' ? 400 : 502).send({ error: error.message })
})

const address = await app.listen({ port: Number(PORT), host: '127.0.0.1' })
console.log(`listening on ${address}`)
