import type { SkillText } from './skill-text.ts'

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

/** Names that read like an instruction no skill knows. A text cannot use them as properties. */
export const otherKeys =
  /^(?:dry_?run|preview|simulat(?:e|ed|ion)|test_?mode|schedule(?:d)?(?:_?at)?|send_?at|deliver_?at|delay|when|skill|targets?|audience|segment|recipients?|to|for|users|devices|broadcast)$/

/** Whether a colon after this word makes it the name of a field. */
export const isFieldName = ({ content }: SkillText, word: string): boolean =>
  targetKeys.has(word) ||
  otherKeys.test(word) ||
  content?.keys.has(word) === true ||
  content?.phrases.some(([[first]]) => first === word) === true
