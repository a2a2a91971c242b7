import type { Reply } from '../support/http.ts'
import type { TestService } from '../support/service.ts'

/** A call of each documented operation, in this order: each step uses the results of those before it. */
export async function calls(service: TestService): Promise<Record<string, () => Promise<Reply>>> {
  const { id, call } = await service.project()
  const pages = await service.project({ mode: 'simulator' })
  const simulator = `/projects/${pages.id}/simulator`
  const manage = (method: string, path: string, json?: unknown) =>
    service.manage(method, path, json === undefined ? {} : { json })
  const own = `/projects/${id}`
  const properties = { plan: 'premium', age: 31, vip: true, note: null }
  const user = { project_user_id: 'ana', properties }
  const device = { id: 'phone', platform: 'iOS', push_token: 'a1', model: 'iPhone' }
  const target = { project_user_id: 'ana' }
  const push = { target, title: 'Hello' }
  const ofPhone = '/api/v1/devices/phone'
  const entry = async (path: string, name: string) =>
    (await manage('GET', path)).json.items.find((one: { name: string }) => one.name === name).id
  const variants = ['a', 'b'].map((id) => ({ id, weight: 1, message: { title: id } }))
  const campaign = {
    campaign_id: 'news',
    name: 'News',
    status: 'active',
    default_audience: { broadcast: true },
    message: { title: 'Hello' },
    frequency_cap: { count: 1, within: '1d' },
    quiet_hours: { from: '22:00', to: '22:01' }
  }
  const newestTrigger = async () => (await call('GET', '/api/v1/triggers?limit=1')).json.items[0].trigger_id
  /** The id of a new push in the simulated inbox. */
  const arrived = async (): Promise<string> => {
    await pages.call('POST', '/api/v1/messages:send', { json: { push_notifications: [push] } })
    return first(`${simulator}/inbox`)
  }
  const first = async (path: string) => (await manage('GET', path)).json.items[0].id
  return {
    createUser: () => call('POST', '/api/v1/users', { json: user }),
    updateUser: () => call('PATCH', '/api/v1/users/ana', { json: { properties: { plan: 'free' } } }),
    getUser: () => call('GET', '/api/v1/users/ana'),
    removeUserProperties: () => call('POST', '/api/v1/users/ana/properties:remove', { json: { names: ['none'] } }),
    saveUsers: () => call('POST', '/api/v1/users:batch', { json: { users: [user, { project_user_id: '' }] } }),
    importUsers: () =>
      call('POST', '/api/v1/users:import', {
        json: { users: [{ ...user, devices: [{ id: 'moved-phone', platform: 'IOS' }, {}] }] }
      }),
    listProjectUsers: () => manage('GET', `${own}/users?limit=10&search=an`),
    createProjectUser: () => manage('POST', `${own}/users`, { project_user_id: 'new' }),
    getProjectUser: () => manage('GET', `${own}/users/ana`),
    updateProjectUser: () =>
      manage('PATCH', `${own}/users/ana`, { set: { plan: 'free' }, before: { plan: 'premium' } }),
    indexProjectProperty: () => manage('PUT', `${own}/indexed-properties/plan`),
    listProjectIndexedProperties: () => manage('GET', `${own}/indexed-properties`),
    unindexProjectProperty: () => manage('DELETE', `${own}/indexed-properties/plan`),
    listProjectUserJourneys: () => manage('GET', `${own}/users/ana/journeys`),
    exportUser: () => manage('GET', `${own}/users/ana/export`),
    eraseUser: () => manage('POST', `${own}/erasures`, { project_user_id: 'erased' }),
    listErasures: () => manage('GET', `${own}/erasures?project_user_id=erased`),
    getErasure: async () => {
      const { items } = (await manage('GET', `${own}/erasures`)).json
      return manage('GET', `${own}/erasures/${items[0].erasure_id}`)
    },
    verifyErasure: async () => {
      const { items } = (await manage('GET', `${own}/erasures`)).json
      return manage('POST', `${own}/erasures:verify`, { receipt: items[0], project_user_id: 'erased' })
    },
    exportProjectUsers: () => manage('GET', `${own}/users:export`),
    importProjectUsers: () =>
      service.manage('POST', `${own}/users:import`, {
        body: '{"project_user_id":"bo"}\nnot json\n',
        headers: { 'content-type': 'application/x-ndjson' }
      }),
    registerDevices: () => call('POST', '/api/v1/devices', { json: { devices: [device] } }),
    deleteDevice: () => call('DELETE', '/api/v1/devices/none'),
    trackEvents: () => call('POST', '/api/v1/events', { json: { events: [{ device_id: 'phone', name: 'open' }] } }),
    logInUser: () => call('POST', `${ofPhone}/user/project-user-id`, { json: { project_user_id: 'ana' } }),
    setDeviceUserProperties: () =>
      call('POST', `${ofPhone}/user/properties`, { json: { properties: [{ name: 'a', value: 1 }] } }),
    removeDeviceUserProperties: () => call('DELETE', `${ofPhone}/user/properties?names=a`),
    registerLiveActivityStartToken: () =>
      call('POST', `${ofPhone}/live-activity-start-tokens`, {
        json: { attributes_type: 'A', push_to_start_token: 'a' }
      }),
    registerLiveActivityUpdateToken: () =>
      call('POST', `${ofPhone}/live-activity-update-tokens`, {
        json: { attributes_type: 'A', activity_id: '1', push_token: 'a' }
      }),
    saveProjectTopic: () => manage('PUT', `${own}/topics/offers`, { name: 'Offers' }),
    listProjectTopics: () => manage('GET', `${own}/topics`),
    getProjectTopic: () => manage('GET', `${own}/topics/offers`),
    getUserPreferences: () => call('GET', '/api/v1/users/ana/preferences'),
    updateUserPreferences: () => call('PATCH', '/api/v1/users/ana/preferences', { json: { opted_out: true } }),
    getUserConsents: () => call('GET', '/api/v1/users/ana/consents'),
    getDevicePreferences: () => call('GET', `${ofPhone}/preferences`),
    updateDevicePreferences: () => call('PATCH', `${ofPhone}/preferences`, { json: { topics: { offers: false } } }),
    deleteProjectTopic: () => manage('DELETE', `${own}/topics/offers`),
    rotateProjectIdentitySecret: () => manage('POST', `${own}/identity-secret:rotate`),
    listProjectDevices: () => manage('GET', `${own}/devices`),
    getProjectDevice: () => manage('GET', `${own}/devices/phone`),
    listProjectEvents: () => manage('GET', `${own}/events`),
    sendMessages: () => call('POST', '/api/v1/messages:send', { json: { push_notifications: [push] } }),
    startLiveActivities: () =>
      call('POST', '/api/v1/live-activities:start', {
        json: { live_activities: [{ target, attributes_type: 'A', attributes: {}, content_state: {} }] }
      }),
    updateLiveActivities: () =>
      call('POST', '/api/v1/live-activities:update', {
        json: { live_activities: [{ activity_id: '1', content_state: {} }] }
      }),
    endLiveActivities: () =>
      call('POST', '/api/v1/live-activities:end', {
        json: { live_activities: [{ target, attributes_type: 'A', content_state: {}, dismissal_date: 0 }] }
      }),
    listMessages: () => call('GET', '/api/v1/messages?limit=2&status=FAILED&project_user_id=ana'),
    getMessage: async () => {
      const sent = await call('POST', '/api/v1/messages:send', { json: { push_notifications: [push] } })
      return call('GET', `/api/v1/messages/${sent.json.delivery_results[0].message_id}`)
    },
    cancelMessage: async () => {
      const json = { push_notifications: [{ ...push, send_at: new Date(Date.now() + 60_000).toISOString() }] }
      const { message_id } = (await call('POST', '/api/v1/messages:send', { json })).json.delivery_results[0]
      return call('POST', `/api/v1/messages/${message_id}:cancel`)
    },
    listProjectMessages: () => manage('GET', `${own}/messages`),
    logOutUser: () => call('DELETE', `${ofPhone}/user/project-user-id`),
    createProjectCampaign: () => manage('POST', `${own}/campaigns`, campaign),
    saveProjectCampaign: () => manage('PUT', `${own}/campaigns/news`, { ...campaign, name: 'Old news' }),
    listProjectCampaigns: () => manage('GET', `${own}/campaigns`),
    getProjectCampaign: () => manage('GET', `${own}/campaigns/news`),
    countProjectCampaignJourneys: () => manage('GET', `${own}/campaigns/news/journeys`),
    listProjectCampaignVersions: () => manage('GET', `${own}/campaigns/news/versions`),
    getProjectCampaignVersion: () => manage('GET', `${own}/campaigns/news/versions/1`),
    getProjectCampaignCounts: () => manage('GET', `${own}/campaigns/news/counts`),
    chooseProjectCampaignWinner: () =>
      manage('PUT', `${own}/campaigns/tried`, { name: 'Tried', variants }).then(() =>
        manage('POST', `${own}/campaigns/tried:choose-winner`, { variant: 'b' })
      ),
    exportProjectCampaignTexts: () => manage('GET', `${own}/campaigns/news/texts`),
    importProjectCampaignTexts: () => service.manage('PUT', `${own}/campaigns/news/texts`, { body: 'id,source\n' }),
    testProjectCampaign: () => manage('POST', `${own}/campaigns/news:test`, { device_ids: ['phone'] }),
    countProjectMessagesByMinute: () => manage('GET', `${own}/messages:minutes`),
    previewProjectCampaignDraft: () =>
      manage('POST', `${own}/campaigns:preview`, { campaign: { name: 'News', message: { title: 'Hi' } } }),
    listCampaigns: () => call('GET', '/api/v1/campaigns'),
    getCampaign: () => call('GET', '/api/v1/campaigns/news'),
    getCampaignStats: () => call('GET', '/api/v1/campaigns/news/stats?by=variant'),
    previewCampaign: () => call('POST', '/api/v1/campaigns/news:preview'),
    triggerCampaign: () => call('POST', '/api/v1/campaigns/news:trigger'),
    listTriggers: () => call('GET', '/api/v1/triggers'),
    listProjectTriggers: () => manage('GET', `${own}/triggers`),
    getTrigger: async () => call('GET', `/api/v1/triggers/${await newestTrigger()}`),
    getProjectTrigger: async () => manage('GET', `${own}/triggers/${await newestTrigger()}`),
    getProjectTriggerSize: async () => manage('GET', `${own}/triggers/${await newestTrigger()}/size`),
    explainTrigger: async () => call('GET', `/api/v1/triggers/${await newestTrigger()}/explain?project_user_id=ana`),
    rescheduleTrigger: async () => {
      const json = { send_at: new Date(Date.now() + 60_000).toISOString() }
      const { trigger_id } = (await call('POST', '/api/v1/campaigns/news:trigger', { json })).json
      return call('PATCH', `/api/v1/triggers/${trigger_id}`, { json })
    },
    cancelTrigger: async () => call('POST', `/api/v1/triggers/${await newestTrigger()}:cancel`),
    streamTrigger: async () => call('GET', `/api/v1/triggers/${await newestTrigger()}/stream`),
    streamProjectTrigger: async () => manage('GET', `${own}/triggers/${await newestTrigger()}/stream`),
    archiveProjectCampaign: () => manage('DELETE', `${own}/campaigns/news`),
    deleteUser: () => call('DELETE', '/api/v1/users/ana'),
    createProject: () => manage('POST', '/projects', { name: 'Shop' }),
    listProjects: () => manage('GET', '/projects?limit=1'),
    getProject: () => manage('GET', own),
    updateProject: () => manage('PATCH', own, { limits: { requests_per_second: 5000 } }),
    createProjectKey: () => manage('POST', `${own}/keys`, { kind: 'public', name: 'app' }),
    listProjectKeys: () => manage('GET', `${own}/keys`),
    rotateProjectKey: async () => manage('POST', `${own}/keys/${await entry(`${own}/keys`, 'app')}:rotate`),
    deleteProjectKey: async () => manage('DELETE', `${own}/keys/${await entry(`${own}/keys`, 'app')}`),
    saveProjectGateway: () => manage('PUT', `${own}/gateways/webpush`, { subject: 'mailto:ops@example.com' }),
    listProjectGateways: () => manage('GET', `${own}/gateways`),
    getProjectGateway: () => manage('GET', `${own}/gateways/webpush`),
    checkProjectGateway: () => manage('POST', `${own}/gateways/webpush:check`),
    deleteProjectGateway: () => manage('DELETE', `${own}/gateways/webpush`),
    listProjectAudit: () => manage('GET', `${own}/audit`),
    createToken: () => manage('POST', '/tokens', { name: 'deploy', role: 'editor', project_id: id }),
    listTokens: () => manage('GET', '/tokens'),
    deleteToken: async () => manage('DELETE', `/tokens/${await entry('/tokens', 'deploy')}`),
    listNodes: () => manage('GET', '/nodes'),
    getInstallationWaiting: async () => {
      const pause = { since: new Date(), backup_made_at: new Date() }
      await service.sql(`insert into settings (name, value) values ('paused', $1)`, [JSON.stringify(pause)])
      return manage('GET', '/installation/waiting')
    },
    resumeInstallation: () => manage('POST', '/installation:resume', { discard: 'none' }),
    listDeadJobs: () => manage('GET', '/dead-jobs'),
    createSimulatedSubscription: () => pages.call('POST', '/api/v1/web-push/simulated-subscriptions'),
    listSimulatedPushes: () => pages.call('GET', '/api/v1/web-push/simulated-pushes?device_id=none'),
    getWebPushPublicKey: () => pages.call('GET', '/api/v1/web-push/public-key'),
    createProjectSimulatorDevice: () =>
      manage('POST', `${simulator}/devices`, { device_id: 'tab', platform: 'WEB', project_user_id: 'ana' }),
    listProjectSimulatorDevices: () => manage('GET', `${simulator}/devices`),
    getProjectSimulatorDevice: () => manage('GET', `${simulator}/devices/tab`),
    updateProjectSimulatorDevice: () => manage('PATCH', `${simulator}/devices/tab`, { online: true }),
    getProjectSimulatorPush: async () => manage('GET', `${simulator}/inbox/${await arrived()}`),
    tapProjectSimulatorPush: async () => manage('POST', `${simulator}/inbox/${await arrived()}:tap`, {}),
    dismissProjectSimulatorPush: async () => manage('POST', `${simulator}/inbox/${await arrived()}:dismiss`),
    deleteProjectSimulatorDevice: () => manage('DELETE', `${simulator}/devices/tab`),
    changeProjectSimulatorFaults: () => manage('PUT', `${simulator}/faults`, { apns: { down: true } }),
    getProjectSimulatorFaults: () => manage('GET', `${simulator}/faults`),
    resetProjectSimulatorFaults: () => manage('DELETE', `${simulator}/faults`),
    listProjectSimulatorInbox: () => manage('GET', `${simulator}/inbox`),
    emptyProjectSimulatorInbox: () => manage('DELETE', `${simulator}/inbox`),
    createProjectWebhook: () =>
      manage('POST', `${own}/webhooks`, { url: 'https://hook.invalid/', events: ['message.failed'] }),
    listProjectWebhooks: () => manage('GET', `${own}/webhooks`),
    getProjectWebhook: async () => manage('GET', `${own}/webhooks/${await first(`${own}/webhooks`)}`),
    updateProjectWebhook: async () =>
      manage('PATCH', `${own}/webhooks/${await first(`${own}/webhooks`)}`, { active: false }),
    rotateProjectWebhookSecret: async () =>
      manage('POST', `${own}/webhooks/${await first(`${own}/webhooks`)}:rotate-secret`),
    testProjectWebhook: async () => manage('POST', `${own}/webhooks/${await first(`${own}/webhooks`)}:test`),
    deleteProjectWebhook: async () => manage('DELETE', `${own}/webhooks/${await first(`${own}/webhooks`)}`),
    rotateProjectTaskSecret: () => manage('POST', `${own}/webhook-secret:rotate`),
    listProjectWebhookDeliveries: () => manage('GET', `${own}/webhook-deliveries`),
    pauseProject: () => manage('POST', `${own}:pause`),
    resumeProject: () => manage('POST', `${own}:resume`),
    deleteProject: () => manage('DELETE', own),
    getSdkTidingsJs: () => service.ask('GET', '/sdk/tidings.js'),
    getSdkTidingsSwJs: () => service.ask('GET', '/sdk/tidings-sw.js'),
    getHealthz: () => service.ask('GET', '/healthz'),
    getVersion: () => service.ask('GET', '/version'),
    getReadyz: () => service.ask('GET', '/readyz'),
    getHealth: () => service.ask('GET', '/api/v1/health'),
    getMetrics: () => service.ask('GET', '/metrics')
  }
}
