// Receives the webhooks of a project and checks their signature with the library of Standard Webhooks.
//   npm install standardwebhooks
//   tidings webhook create http://localhost:3000/tidings --events message.failed,trigger.completed
//   WEBHOOK_SECRET=whsec_… node webhook-receiver.js
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const { WEBHOOK_SECRET, PORT = '3000' } = process.env
const webhook = new Webhook(WEBHOOK_SECRET)
/** A call may arrive twice, with the same ids. A real receiver remembers them in its database. */
const seen = new Set()

const server = createServer(async (request, response) => {
  // The text as it arrived: a parsed and printed body has other bytes, and another signature.
  const body = await text(request)
  try {
    webhook.verify(body, request.headers)
  } catch (error) {
    console.error(`refused: ${error.message}`)
    response.writeHead(400).end()
    return
  }
  // Tidings waits 10 seconds. Store the events first, respond, and do the work afterwards.
  const events = JSON.parse(body).events.filter(({ id }) => !seen.has(id))
  for (const { id } of events) seen.add(id)
  response.writeHead(204).end()
  for (const event of events) handle(event)
})

function handle(event) {
  if (event.type === 'message.failed') console.log(`${event.message_id} to ${event.device_id} failed: ${event.reason}`)
  else if (event.type === 'trigger.completed') console.log(`${event.trigger_id} ${event.state}`, event.counts)
  else console.log(event.type)
}

server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`))
