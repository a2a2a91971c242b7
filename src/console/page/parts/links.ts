/** Paths of the console, relative to its base. */
export const pageLink = (projectId: string, page: string) => `/p/${encodeURIComponent(projectId)}/${page}`

export const userLink = (projectId: string, id: string) => pageLink(projectId, `users/${encodeURIComponent(id)}`)
export const campaignLink = (projectId: string, id: string) =>
  pageLink(projectId, `campaigns/${encodeURIComponent(id)}`)
export const segmentLink = (projectId: string, id: string) => pageLink(projectId, `segments/${encodeURIComponent(id)}`)
export const triggerLink = (projectId: string, id: string) => pageLink(projectId, `triggers/${id}`)
export const approvalLink = (projectId: string, id: string) => pageLink(projectId, `approvals/${id}`)
export const taskLink = (projectId: string, id: string) => pageLink(projectId, `agents/tasks/${id}`)
export const messageLink = (projectId: string, id: string) => pageLink(projectId, `messages/${id}`)
export const webhookLink = (projectId: string, id: string) => pageLink(projectId, `webhooks/${id}`)
export const erasureLink = (projectId: string, id: string) => pageLink(projectId, `privacy/${id}`)
export const deliveryLink = (projectId: string, id: string) => pageLink(projectId, `webhooks/deliveries/${id}`)
