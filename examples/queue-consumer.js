// Sends a push for each job of a queue. Jobs are lines of JSON on the standard input, which stands for your queue:
//   echo '{"id":"job-1","user":"demo-user","title":"Hello"}' | node queue-consumer.js
// A line on the standard output says what to do with a job: ack (done), dead (it can never succeed) or retry.
import { createInterface } from 'node:readline'
import { createClient, TidingsError } from 'tidings/client'

const { TIDINGS_URL, TIDINGS_PROJECT, TIDINGS_SECRET_KEY } = process.env
const tidings = createClient({ url: TIDINGS_URL, projectId: TIDINGS_PROJECT, apiKey: TIDINGS_SECRET_KEY })
const mostAtOnce = 10
const running = new Set()

async function handle({ id, user, title }) {
  try {
    // Queues deliver at least once. The id of the job as the key makes a second delivery harmless.
    const notification = { target: { project_user_id: user }, title }
    const [result] = await tidings.messages.send([notification], { idempotencyKey: id })
    console.log(`ack ${id} ${result.status}`)
  } catch (error) {
    if (!(error instanceof TidingsError)) throw error
    // The client has repeated what may pass by itself. What is wrong with the job stays wrong.
    console.log(`${error.kind === 'request' ? 'dead' : 'retry'} ${id} ${error.code ?? error.kind}`)
  }
}

function jobIn(line) {
  try {
    const job = JSON.parse(line)
    return typeof job === 'object' ? job : null
  } catch {
    return null
  }
}

let lines = 0
for await (const line of createInterface({ input: process.stdin })) {
  lines += 1
  const job = jobIn(line)
  if (!job) {
    // A delivery that cannot be read must not hold up the others.
    console.log(`dead line-${lines} not_a_job`)
    continue
  }
  const work = handle(job).finally(() => running.delete(work))
  running.add(work)
  if (running.size >= mostAtOnce) await Promise.race(running)
}
await Promise.all(running)
