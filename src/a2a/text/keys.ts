import type { Cursor } from './cursor.ts'
import { contentFields } from './words.ts'

/** Names of fields that say whom it is for, in the spellings of the data part and of the HTTP API. */
export const targetKeys = new Map<string, 'user' | 'device' | 'inner'>([
  ['user', 'user'],
  ['userid', 'inner'],
  ['user_id', 'inner'],
  ['projectuserid', 'user'],
  ['project_user_id', 'user'],
  ['device', 'device'],
  ['deviceid', 'device'],
  ['device_id', 'device']
])
export const nameKeys = new Map([
  ['create-user', new Set(['id', 'user', 'userid', 'user_id', 'projectuserid', 'project_user_id'])],
  ['track-event', new Set(['event', 'eventname', 'event_name'])],
  ['trigger-campaign', new Set(['campaign', 'campaignid', 'campaign_id'])]
])
export const contentKeys = new Map([
  ['title', 'title'],
  ['body', 'body'],
  ['text', 'body'],
  ['message', 'body'],
  ['image', 'imageUrl'],
  ['imageurl', 'imageUrl'],
  ['image_url', 'imageUrl'],
  ['landing', 'landingUrl'],
  ['landingurl', 'landingUrl'],
  ['landing_url', 'landingUrl'],
  ['link', 'landingUrl'],
  ['url', 'landingUrl']
])

/** A picture comes from the web; what a tap opens may be a place in the app. */
export const addresses = new Map([
  ['imageUrl', /^https?:\/\/\S+$/i],
  ['landingUrl', /^(?!javascript:|data:)[a-z][a-z\d+.-]*:\/\/\S+$/i]
])

/** What reads like an instruction on how to do it, and is not one we know: not to be taken for a property. */
export const otherKeys =
  /^(?:dry_?run|preview|simulat(?:e|ed|ion)|test_?mode|schedule(?:d)?(?:_?at)?|send_?at|deliver_?at|delay|when|skill|targets?|audience|segment|recipients?|to|for|users|devices|broadcast)$/

/** "To ana and bo: "Hi"": the last of a list looks like the name of a field. */
export const noField = (cursor: Cursor, at: number, key: string) =>
  cursor.isMark(at - 1, ',') || /^(and|&)$/.test(cursor.word(at - 1) ?? '')
    ? `A push goes to one user or one device at a time, and has no field ${key}.`
    : `A push has no field ${key}.`

/** Whether a colon after this word makes it the name of a field. */
export const isFieldName = (word: string): boolean =>
  contentKeys.has(word) ||
  targetKeys.has(word) ||
  otherKeys.test(word) ||
  contentFields.some(([[first]]) => first === word)
