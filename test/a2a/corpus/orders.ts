import type { Action } from './cases.ts'
import type { Draw } from './draw.ts'
import { anyId, bodies, campaigns, deviceOf, events, plainId, someProperties, titles, type Written } from './things.ts'

/** A clear order in a form that the docs publish, and the action that it asks for. */
export interface Order {
  text: string
  action: Action
}

export const createsUser = (projectUserId: string, properties?: Record<string, unknown>): Action => ({
  skill: 'create-user',
  data: { projectUserId, ...(properties && { properties }) }
})
export const triggers = (campaignId: string, targets: object[], properties?: Record<string, unknown>): Action => ({
  skill: 'trigger-campaign',
  data: { campaignId, targets, ...(properties && { properties }) }
})
export const broadcasts = (campaignId: string, properties?: Record<string, unknown>): Action => ({
  skill: 'trigger-campaign',
  data: { campaignId, broadcast: true, ...(properties && { properties }) }
})
export const tracks = (eventName: string, who: object, properties?: Record<string, unknown>): Action => ({
  skill: 'track-event',
  data: { eventName, ...who, ...(properties && { properties }) }
})
export const pushes = (who: object, content: object): Action => ({
  skill: 'send-push-notification',
  data: { ...who, ...content }
})

interface Wish {
  id: (draw: Draw) => Written
  properties: boolean
}

const whoOf = (draw: Draw, { id }: Wish) => {
  if (draw.chance(35)) {
    const deviceId = deviceOf(draw)
    return { text: `device ${deviceId}`, who: { deviceId } }
  }
  const { id: projectUserId, text } = id(draw)
  return { text: `user ${text}`, who: { projectUserId } }
}

const withProperties = (draw: Draw, { properties }: Wish) =>
  properties && draw.chance(45) ? someProperties(draw) : { text: '', meant: undefined }

function userOrder(draw: Draw, wish: Wish): Order {
  const { id, text } = wish.id(draw)
  const { text: more, meant } = withProperties(draw, wish)
  return { text: `Create user ${text}${more}`, action: createsUser(id, meant) }
}

function eventOrder(draw: Draw, wish: Wish): Order {
  const name = draw.pick(events)
  const { text, who } = whoOf(draw, wish)
  const { text: more, meant } = withProperties(draw, wish)
  return { text: `Track event ${name} for ${text}${more}`, action: tracks(name, who, meant) }
}

function campaignOrder(draw: Draw, wish: Wish): Order {
  const campaign = draw.pick(campaigns)
  const { text, who } = whoOf(draw, wish)
  const { text: more, meant } = withProperties(draw, wish)
  return { text: `Trigger campaign ${campaign} for ${text}${more}`, action: triggers(campaign, [who], meant) }
}

function pushOrder(draw: Draw, wish: Wish): Order {
  const { text, who } = whoOf(draw, wish)
  const [title, body] = [draw.pick(titles), draw.pick(bodies)]
  const [content, meant] = draw.pick<[string, object]>([
    [`saying "${body}"`, { body }],
    [`with title "${title}" and body "${body}"`, { title, body }],
    [`with title "${title}"`, { title }],
    [`with body "${body}"`, { body }]
  ])
  return {
    text: `Send a ${draw.pick(['push', 'push notification'])} to ${text} ${content}`,
    action: pushes(who, meant)
  }
}

const kinds = [userOrder, eventOrder, campaignOrder, pushOrder]

/** An order of any skill, with ids of many kinds. */
export const clearOrder = (draw: Draw): Order => draw.pick(kinds)(draw, { id: anyId, properties: true })

/** An order with a simple id, for texts that test something else. */
export const simpleOrder = (draw: Draw): Order => draw.pick(kinds)(draw, { id: plainId, properties: draw.chance(25) })

/** An order that reaches people: a campaign or a push. */
export const reachingOrder = (draw: Draw): Order =>
  draw.pick([campaignOrder, pushOrder])(draw, { id: plainId, properties: draw.chance(25) })

/** An order that may take properties and has none yet. */
export const bareOrder = (draw: Draw): Order =>
  draw.pick([userOrder, eventOrder, campaignOrder])(draw, { id: plainId, properties: false })

export const small = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
