import { cancelTrigger } from './cancel-trigger/skill.ts'
import { createUser } from './create-user/skill.ts'
import { explainDelivery } from './explain-delivery/skill.ts'
import { findUser } from './find-user/skill.ts'
import { getTrigger } from './get-trigger/skill.ts'
import { listCampaigns } from './list-campaigns/skill.ts'
import { listMessages } from './list-messages/skill.ts'
import { previewCampaign } from './preview-campaign/skill.ts'
import { sendPushNotification } from './send-push-notification/skill.ts'
import type { MakeSkill } from './skill.ts'
import { trackEvent } from './track-event/skill.ts'
import { triggerCampaign } from './trigger-campaign/skill.ts'

/** The skills: the contract's four in the order of its card, then our own. A new skill is a folder and a line here. */
export const table: readonly MakeSkill[] = [
  sendPushNotification,
  triggerCampaign,
  createUser,
  trackEvent,
  findUser,
  listCampaigns,
  previewCampaign,
  getTrigger,
  explainDelivery,
  listMessages,
  cancelTrigger
]
