// A job for cron that triggers a campaign once a day and reports how it ended.
//   0 9 * * * TIDINGS_URL=http://127.0.0.1:8080 TIDINGS_PROJECT=demo TIDINGS_SECRET_KEY=svc_sk_… node cron.js digest
import { createClient } from 'tidings/client'

const { TIDINGS_URL, TIDINGS_PROJECT, TIDINGS_SECRET_KEY } = process.env
const [campaign = 'digest'] = process.argv.slice(2)
const tidings = createClient({ url: TIDINGS_URL, projectId: TIDINGS_PROJECT, apiKey: TIDINGS_SECRET_KEY })

// A second run on the same day, by hand or because cron ran on two machines, sends nothing and reports the same trigger.
const today = new Date().toISOString().slice(0, 10)
const triggerId = await tidings.campaigns.trigger(
  campaign,
  { audience: { broadcast: true }, properties: { day: today } },
  { idempotencyKey: `${campaign}-${today}` }
)
const { state, counts, failures } = await tidings.triggers.ended(triggerId, { signal: AbortSignal.timeout(3_600_000) })
console.log(`${campaign} ${state}: ${counts.sent} sent, ${counts.failed} failed, ${counts.skipped} skipped`)
if (counts.failed > 0) console.log('failures:', failures)
process.exitCode = state === 'completed' ? 0 : 1
