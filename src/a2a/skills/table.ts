import { createUser } from './create-user/skill.ts'
import { sendPushNotification } from './send-push-notification/skill.ts'
import type { MakeSkill } from './skill.ts'
import { trackEvent } from './track-event/skill.ts'
import { triggerCampaign } from './trigger-campaign/skill.ts'

/** The skills, in the order of the card. A new skill is a folder and a line here. */
export const table: readonly MakeSkill[] = [sendPushNotification, triggerCampaign, createUser, trackEvent]
