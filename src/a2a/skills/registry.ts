import { type CreateUser, type CreateUsers, createUserSkill } from './create-user.ts'
import { type SendPush, sendPushSkill } from './send-push.ts'
import type { Skill } from './skill.ts'
import { type TrackEvent, trackEventSkill } from './track-event.ts'
import { type TriggerCampaign, triggerCampaignSkill } from './trigger-campaign.ts'

/** What the skills do is done by the same functions as the REST API's. */
export interface Capabilities {
  createUser: CreateUser
  createUsers: CreateUsers
  trackEvent: TrackEvent
  sendPush: SendPush
  triggerCampaign: TriggerCampaign
}

/** All that agents can have done, by id: the card, the check of requests and the reading of texts look here. */
export type Skills = ReadonlyMap<string, Skill>

export function createSkills(does: Capabilities, more: Skill[] = []): Skills {
  const all = [
    sendPushSkill(does.sendPush),
    triggerCampaignSkill(does.triggerCampaign),
    createUserSkill(does.createUser, does.createUsers),
    trackEventSkill(does.trackEvent),
    ...more
  ]
  return new Map(all.map((skill) => [skill.id, skill]))
}

/** JSON Schemas of the payloads; with `spellings`, also of the fields that may stand instead of others. */
export function skillSchemas(skills: Skills, { spellings = false } = {}): Record<string, unknown> {
  return Object.fromEntries([...skills.values()].map((skill) => [skill.id, schemaOf(skill, spellings)]))
}

function schemaOf({ schema, oneOf, spellings = {} }: Skill, all: boolean) {
  const groups = oneOf?.map((group) => (all && group.includes('projectUserId') ? [...group, 'target'] : group))
  return {
    ...schema,
    ...(all && { properties: { ...schema.properties, ...spellings } }),
    ...(groups && { allOf: groups.map((group) => ({ anyOf: group.map((name) => ({ required: [name] })) })) })
  }
}
