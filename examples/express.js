// An Express app that tells a customer that an order was shipped.
//   npm install express    (README.md says how to install tidings)
//   TIDINGS_URL=http://127.0.0.1:8080 TIDINGS_PROJECT=demo TIDINGS_SECRET_KEY=svc_sk_… node express.js
//   curl -X POST http://127.0.0.1:3000/orders/42/ship -H 'Content-Type: application/json' -d '{"customer":"demo-user"}'
import express from 'express'
import { createClient, TidingsError } from 'tidings/client'

const { TIDINGS_URL, TIDINGS_PROJECT, TIDINGS_SECRET_KEY, PORT = '3000' } = process.env
const tidings = createClient({ url: TIDINGS_URL, projectId: TIDINGS_PROJECT, apiKey: TIDINGS_SECRET_KEY })

const app = express()
app.use(express.json())

app.post('/orders/:id/ship', async (request, response) => {
  const { id } = request.params
  const notification = {
    target: { project_user_id: request.body.customer },
    title: 'Your order is on its way',
    body: `Order ${id} arrives tomorrow.`
  }
  // The key names what happened: however often this route is called, the customer gets one push.
  const [result] = await tidings.messages.send([notification], { idempotencyKey: `order-${id}-shipped` })
  response.json({ message_id: result.message_id, status: result.status })
})

app.use((error, _request, response, next) => {
  if (!(error instanceof TidingsError)) return next(error)
  console.error(error.message, error.requestId)
  response.status(error.kind === 'request' ? 400 : 502).json({ error: error.message })
})

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
