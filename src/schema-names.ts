/**
 * The names of schemas in /openapi.json. Client generators turn them into names of types, so a name that was released
 * stays. A schema that a request or a response repeats, whatever its description, appears there under its name.
 */
import type { TSchema } from '@sinclair/typebox'
import { TaskRecordAnswer } from './a2a/tasks/record-schema.ts'
import * as activityChannels from './activity-channels/schemas.ts'
import { TriggerBody, TriggerTarget } from './campaigns/audience/request-schema.ts'
import * as texts from './campaigns/definition/message-schema.ts'
import { EventSchema, EventTriggerSchema, ScheduleSchema } from './campaigns/definition/running-schema.ts'
import * as definitions from './campaigns/definition/schema.ts'
import { PreviewAnswer } from './campaigns/preview/schemas.ts'
import * as campaigns from './campaigns/schemas.ts'
import { CampaignSummary } from './campaigns/summary-routes.ts'
import { WinnerAnswer } from './campaigns/texts/winner-schemas.ts'
import * as activities from './channels/live-activity/schema.ts'
import { SendBody } from './channels/push/schema.ts'
import { TargetSchema } from './channels/schema.ts'
import * as devices from './devices/schemas.ts'
import * as events from './events/schemas.ts'
import * as gateways from './gateways/credentials/schemas.ts'
import * as journeys from './journeys/schemas.ts'
import * as people from './manage/member-schemas.ts'
import { PhoneAnswer } from './manage/phone-routes.ts'
import * as phones from './manage/phone-schemas.ts'
import { ErasureAnswer, RemainingAnswer } from './manage/privacy/schemas.ts'
import * as manage from './manage/schemas.ts'
import * as simulator from './manage/simulator-schemas.ts'
import * as messages from './messages/schemas.ts'
import * as approvals from './oversight/approvals/schemas.ts'
import * as preferences from './preferences/schemas.ts'
import * as segments from './segments/saved/schemas.ts'
import * as stats from './stats/schemas.ts'
import * as triggers from './triggers/schemas.ts'
import * as users from './users/schemas.ts'
import * as webhooks from './webhooks/schemas.ts'

const itemOf = (list: TSchema): TSchema => list.items

export const schemaNames: Readonly<Record<string, TSchema>> = {
  User: users.User,
  UserProperties: users.UserProperties,
  Properties: users.PropertiesSchema,
  NewUser: users.NewUserBody,
  IndexedProperty: users.IndexedProperty,
  UserImport: users.ImportResult,
  Preferences: preferences.PreferencesAnswer,
  PreferencesChange: preferences.PreferencesBody,
  Consent: preferences.ConsentAnswer,
  ConsentEvidence: preferences.ConsentBody,
  Topic: preferences.TopicAnswer,

  Device: devices.ManagedDevice,
  ClientDevice: devices.DeviceAnswer,
  DeviceRegistration: devices.DeviceSchema,
  Platform: devices.Platform,
  Event: events.ManagedEvent,
  ClientEvent: events.EventAnswer,
  NewEvent: events.SentEvent,

  Target: TargetSchema,
  PushNotification: itemOf(SendBody.properties.push_notifications),
  DeliveryResult: itemOf(messages.ResultsAnswer.properties.delivery_results),
  DeliveryResults: messages.ResultsAnswer,
  DeliveryStatus: messages.Status,
  DeviceOutcome: messages.DeviceOutcome,
  Message: messages.MessageAnswer,
  MessageEntry: messages.MessageEntry,
  MessageState: messages.State,
  MessageMinute: messages.MinuteEntry,

  LiveActivityStart: itemOf(activities.StartBody.properties.live_activities),
  LiveActivityChange: itemOf(activities.ChangeBody.properties.live_activities),
  LiveActivityAlert: activities.Alert,
  LiveActivityChannel: activityChannels.ChannelAnswer,
  LiveActivityChannelWithChange: activityChannels.ChannelWithChange,
  LiveActivityChannelChange: activities.ChannelChangeBody,

  CampaignSummary,
  Campaign: campaigns.Answer,
  SavedCampaign: campaigns.SavedAnswer,
  NewCampaign: campaigns.CampaignBody,
  CampaignVersion: campaigns.Version,
  CampaignTotals: campaigns.Counts,
  CampaignStatus: definitions.CampaignSchema.properties.status,
  CampaignType: definitions.CampaignSchema.properties.type,
  CampaignMessage: texts.MessageSchema,
  CampaignTranslation: texts.TranslationSchema,
  CampaignVariant: texts.VariantSchema,
  CampaignStep: texts.StepSchema,
  CampaignSchedule: ScheduleSchema,
  CampaignEventTrigger: EventTriggerSchema,
  CampaignEvent: EventSchema(''),
  CampaignLiveActivity: definitions.LiveActivitySchema,
  CampaignAudience: definitions.AudienceSchema,
  CampaignWinner: WinnerAnswer,
  CampaignPreview: PreviewAnswer,
  CampaignStats: stats.StatsAnswer,
  CampaignJourneys: journeys.CampaignJourneys,
  ProjectStats: stats.ProjectStatsAnswer,
  Figures: stats.Figures,
  QuietHours: definitions.QuietHoursSchema,
  Journey: journeys.JourneyAnswer,

  Trigger: triggers.TriggerAnswer,
  AuthoredTrigger: triggers.AuthoredTrigger,
  TriggerRequest: TriggerBody,
  TriggerTarget,
  TriggerState: triggers.State,
  TriggerCounts: triggers.Counts,
  TriggerSource: triggers.Source,
  TriggerSize: triggers.TriggerSizeAnswer,
  Explanation: triggers.ExplainAnswer,
  Gate: itemOf(triggers.Gates),
  GateCondition: itemOf(triggers.Conditions),

  Project: manage.ProjectAnswer,
  MessageLimit: manage.MessageLimitSchema,
  Key: manage.KeyAnswer,
  CreatedKey: manage.CreatedKey,
  RotatedKey: manage.RotatedKey,
  KeyKind: manage.Kind,
  KeyPolicy: manage.PolicyAnswer,
  IdentitySecret: manage.IdentitySecretAnswer,
  Token: manage.TokenAnswer,
  CreatedToken: manage.CreatedToken,
  Role: manage.Role,
  AuditEntry: manage.AuditAnswer,
  Actor: manage.ActorAnswer,
  Node: manage.NodeAnswer,
  DeadJob: manage.DeadJobAnswer,
  Erasure: ErasureAnswer,
  ErasureRemainder: RemainingAnswer,
  Member: people.MemberAnswer,
  InvitedMember: people.InvitedMember,
  MemberLink: people.LinkAnswer,
  Session: people.SessionAnswer,
  Segment: segments.ListedSegment,
  SegmentWithCampaigns: segments.SegmentAnswer,
  SavedSegment: segments.SavedAnswer,
  SegmentCount: segments.CountAnswer,
  SegmentSize: segments.SizeAnswer,
  Gateway: gateways.GatewayAnswer,
  GatewayCredential: gateways.CredentialAnswer,
  GatewayCheck: gateways.CheckAnswer,
  Webhook: webhooks.WebhookAnswer,
  WebhookEventType: webhooks.EventName,
  WebhookDelivery: webhooks.DeliveryAnswer,
  WebhookDeliveryDetail: webhooks.DeliveryDetailAnswer,
  WebhookAttempt: webhooks.AttemptAnswer,
  WebhookDeliveryState: webhooks.State,
  Approval: approvals.ApprovalAnswer,
  ApprovalState: approvals.State,
  AgentTask: TaskRecordAnswer,
  SimulatedPhone: phones.PhoneState,
  SimulatedDevice: PhoneAnswer,
  SimulatedPush: simulator.InboxAnswer,
  SimulatorFaults: simulator.FaultsAnswer
}
