import assert from 'node:assert/strict'
import { it } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { agentKey } from '../oversight/keys.ts'
import { givenCampaign, givenMany } from '../support/campaigns.ts'
import { ask, type Json } from '../support/http.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()

it('of actions approved on a node that is killed meanwhile, each is done once or still waits', async (t) => {
  const project = await service.project({ mode: 'simulator' })
  await givenMany(service, project, 3, project.id)
  await givenCampaign(service, project)
  const key = await agentKey(service, project, { approval_above: 0, max_recipients_per_day: 1_000 })
  const env = { DATABASE_URL: service.databaseUrl, MASTER_KEY: service.config.MASTER_KEY!.toString('base64') }
  const program = startProgram(t, { ...env, DATA_DIR: await temporaryFolder(t), BOOTSTRAP_PROJECT_ID: 'other' })
  const url = await program.ready
  const agent = agentOf(service, key, 'plain')
  const everyone = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
  const tasks: Json[] = await Promise.all(Array.from({ length: 30 }, () => agent.send(everyone)))
  let answered = 0
  const deciding = tasks.map(async (task) => {
    const path = `/manage/v1/projects/${project.id}/approvals/${task.status.message.metadata.approvalId}:approve`
    const headers = { authorization: `Bearer ${service.adminToken}` }
    const reply = await ask(url, 'POST', path, { headers }).catch(() => undefined)
    if (reply?.status === 200) answered += 1
  })
  await eventually(() => assert.ok(answered > 3), 30_000)
  process.kill(program.pid, 'SIGKILL')
  await Promise.all(deciding)
  await eventually(async () => {
    const rows = await service.sql(
      `select a.state as approval, t.state as task from approvals a join a2a_tasks t on t.project_id = a.project_id and t.id = a.task_id
        where a.project_id = $1`,
      [project.id]
    )
    const pairs = new Set(rows.map(({ approval, task }) => `${approval} ${task}`))
    assert.ok(
      [...pairs].every((pair) => pair === 'approved completed' || pair === 'pending auth-required'),
      [...pairs].join(', ')
    )
    const approved = rows.filter(({ approval }) => approval === 'approved').length
    assert.ok(approved >= answered)
    const [{ n }] = await service.sql('select count(*)::int as n from triggers where project_id = $1', [project.id])
    assert.equal(n, approved, 'one trigger for each')
    const [{ kept }] = await service.sql(
      'select count(*)::int as kept from recipient_reservations where project_id = $1',
      [project.id]
    )
    assert.equal(kept, approved, 'and one reservation')
  }, 30_000)
})
