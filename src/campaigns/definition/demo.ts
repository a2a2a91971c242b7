/** The campaign of a first start, so that there is something to trigger. */
export const demoCampaign = () => ({
  campaign_id: 'welcome',
  name: 'Welcome',
  type: 'api_triggered',
  status: 'active',
  default_audience: { broadcast: true },
  message: {
    title: 'Hello {{ user.name | default: "there" }}',
    body: 'Tidings is running.{% if trigger.code %} Your code is {{ trigger.code }}.{% endif %}'
  }
})
