/**
 * Responses of /manage/v1 and /api/v1 as their callers read them, inferred from the schemas that the routes declare. The
 * console and the CLI import these types; nothing here exists at run time.
 */
import type { Static } from '@sinclair/typebox'
import type * as tasks from './a2a/tasks/record-schema.ts'
import type * as activityChannels from './activity-channels/schemas.ts'
import type * as campaigns from './campaigns/schemas.ts'
import type * as sessions from './console/session-schemas.ts'
import type * as devices from './devices/schemas.ts'
import type * as events from './events/schemas.ts'
import type * as gateways from './gateways/credentials/schemas.ts'
import type * as journeys from './journeys/schemas.ts'
import type * as people from './manage/member-schemas.ts'
import type * as phones from './manage/phone-schemas.ts'
import type * as privacy from './manage/privacy/schemas.ts'
import type * as manage from './manage/schemas.ts'
import type * as simulator from './manage/simulator-schemas.ts'
import type * as messages from './messages/schemas.ts'
import type * as approvals from './oversight/approvals/schemas.ts'
import type { Detail, RefusalCode } from './platform/errors.ts'
import type * as preferences from './preferences/schemas.ts'
import type * as stats from './stats/schemas.ts'
import type * as users from './users/schemas.ts'
import type * as webhooks from './webhooks/schemas.ts'

export type { Preview } from './campaigns/preview/schemas.ts'
export type { Kind as ChangeKind } from './manage/changes/schemas.ts'
export type { EventNames, Properties } from './segments/catalog/schemas.ts'
export type { AttributeCondition, EventCondition, Segment } from './segments/language.ts'
export type {
  CountAnswer as SegmentCount,
  ListedSegment,
  SavedAnswer as SavedSegment,
  SegmentAnswer as ShownSegment,
  SizeAnswer as SegmentSize
} from './segments/saved/schemas.ts'
export type { AuthoredTrigger, Explanation, Gate, Trigger, TriggerSize } from './triggers/schemas.ts'

/** One page of a list. `next_cursor` is null on the last one. */
export interface Page<Item> {
  items: Item[]
  next_cursor: string | null
}

/** The body of a refusal, unless the contract fixes another one. `details` names each fault with its path. */
export interface Refused {
  error: string
  code?: RefusalCode
  details?: Detail[]
}

/** A user on the way through a campaign. */
export type Journey = Static<typeof journeys.JourneyAnswer>
export type CampaignJourneys = Static<typeof journeys.CampaignJourneys>
/** What came of a campaign. */
export type ProjectStats = Static<typeof stats.ProjectStatsAnswer>
export type CampaignStats = Static<typeof stats.StatsAnswer>
export type CampaignFigures = CampaignStats['totals']
export type Project = Static<typeof manage.ProjectAnswer>
export type Key = Static<typeof manage.KeyAnswer>
export type Policy = Static<typeof manage.PolicyAnswer>
/** Includes its text, which only this response contains. */
export type CreatedKey = Static<typeof manage.CreatedKey>
export type RotatedKey = Static<typeof manage.RotatedKey>
/** Includes its text, which only this response contains. */
export type IdentitySecret = Static<typeof manage.IdentitySecretAnswer>
export type Token = Static<typeof manage.TokenAnswer>
/** Includes its text, which only this response contains. */
export type CreatedToken = Static<typeof manage.CreatedToken>
/** An action of an agent that a person decides. */
export type Approval = Static<typeof approvals.ApprovalAnswer>
/** The record of an agent's task, for people. */
export type TaskRecord = Static<typeof tasks.TaskRecordAnswer>
export type AuditEntry = Static<typeof manage.AuditAnswer>
/** An author of changes. */
export type Actor = Static<typeof manage.ActorAnswer>
export type Node = Static<typeof manage.NodeAnswer>
export type InstallationPause = Static<typeof manage.InstallationPauseAnswer>
export type DeadJob = Static<typeof manage.DeadJobAnswer>

/** The receipt of an erasure. */
export type Erasure = Static<typeof privacy.ErasureAnswer>

export type User = Static<typeof users.User>
export type UserList = Static<typeof users.UserList>
export type IndexedProperty = Static<typeof users.IndexedProperty>
export type UserProperties = Static<typeof users.UserProperties>['properties']
export type UserImport = Static<typeof users.ImportResult>
export type Device = Static<typeof devices.ManagedDevice>
/** A device as /api/v1 returns it to apps. */
export type ClientDevice = Static<typeof devices.DeviceAnswer>
export type Event = Static<typeof events.ManagedEvent>
/** An event as /api/v1 returns it to apps. */
export type ClientEvent = Static<typeof events.EventAnswer>

export type Topic = Static<typeof preferences.TopicAnswer>
/** What a user wants to get. */
export type Preferences = Static<typeof preferences.PreferencesAnswer>
/** The evidence of a choice. */
export type Consent = Static<typeof preferences.ConsentAnswer>

export type Webhook = Static<typeof webhooks.WebhookAnswer>
export type WebhookDelivery = Static<typeof webhooks.DeliveryAnswer>
export type WebhookDeliveryDetail = Static<typeof webhooks.DeliveryDetailAnswer>
export type WebhookAttempt = Static<typeof webhooks.AttemptAnswer>
export type GatewayCredential = Static<typeof gateways.CredentialAnswer>
export type Gateway = Static<typeof gateways.GatewayAnswer>
export type GatewayCheck = Static<typeof gateways.CheckAnswer>

export type Message = Static<typeof messages.MessageAnswer>
export type MessageEntry = Static<typeof messages.MessageEntry>
export type MessageMinute = Static<typeof messages.MinuteEntry>
export type DeliveryResults = Static<typeof messages.ResultsAnswer>
export type DeliveryResult = DeliveryResults['delivery_results'][number]

/** A broadcast channel of Live Activities. */
export type ActivityChannel = Static<typeof activityChannels.ChannelAnswer>
export type ActivityChannelWithChange = Static<typeof activityChannels.ChannelWithChange>

export type Campaign = Static<typeof campaigns.Answer>
export type SavedCampaign = Static<typeof campaigns.SavedAnswer>
export type CampaignVersion = Static<typeof campaigns.Version>
export type CampaignTotals = Static<typeof campaigns.Counts>

/** A simulated phone: its device, and what a person sees of it. */
export type Phone = Device & { phone: Static<typeof phones.PhoneState> }
export type InboxItem = Static<typeof simulator.InboxAnswer>
export type Faults = Static<typeof simulator.FaultsAnswer>

/** One role of a person. */
export type Member = Static<typeof people.MemberAnswer>
export type InvitedMember = Static<typeof people.InvitedMember>
/** A link that sets a new password. */
export type ResetLink = Static<typeof people.LinkAnswer>
export type Account = Static<typeof people.AccountAnswer>
export type Passkey = Static<typeof people.PasskeyAnswer>
/** A signed-in browser. */
export type Session = Static<typeof people.SessionAnswer>
/** What an invitation or a reset link is for. */
export type PersonalLink = Static<typeof sessions.LinkRead>
/** Who is signed in to the console, and how people can sign in. */
export type Identity = Static<typeof sessions.SignedIn>
