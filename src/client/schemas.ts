// Printed from /openapi.json by `npm run docs`. Do not edit.

export interface Problem {
  /** What was wrong, as a sentence. It may change. */
  error: string
  /** What was wrong, as a word. It stays. */
  code?: "missing_project_id" | "missing_api_key" | "invalid_api_key" | "missing_user_token" | "invalid_user_token" | "user_token_mismatch" | "missing_token" | "invalid_token" | "invalid_sign_in" | "secret_key_required" | "forbidden" | "policy_refused" | "approval_required" | "confirmation_required" | "dry_run_only" | "intake_off" | "not_found" | "device_not_found" | "method_not_allowed" | "not_acceptable" | "message_not_found" | "idempotency_key_in_use" | "idempotency_key_reused" | "conflict" | "channel_refused" | "project_is_live" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "too_many_streams" | "malformed_body" | "malformed_request" | "invalid_project_user_id" | "invalid_device_id" | "invalid_device" | "invalid_event" | "invalid_push_notification" | "invalid_live_activity" | "invalid_idempotency_key" | "invalid_properties" | "properties_too_large" | "invalid_credential" | "invalid_campaign" | "invalid_segment" | "invalid_template" | "invalid_parameter" | "invalid_campaign_id" | "invalid_trigger" | "campaign_not_found" | "campaign_cannot_run" | "campaign_not_active" | "campaign_not_api_triggered" | "internal_error" | "overloaded" | "unavailable"
  /** The fields that were wrong, at most 20. */
  details?: {
    path: string
    message: string
  }[]
}

export interface User {
  /** The service's own id. */
  id: string
  /** The project's own id of the user; percent-encoded where it stands in a path. */
  project_user_id: string
  /** Names of 1 to 256 characters; at most 1,000 properties and 64 KiB a user. null is a value. */
  properties: Properties
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  updated_at: string
}

export interface UserProperties {
  /** Names of 1 to 256 characters; at most 1,000 properties and 64 KiB a user. null is a value. */
  properties: Properties
}

/** Names of 1 to 256 characters; at most 1,000 properties and 64 KiB a user. null is a value. */
export type Properties = Record<string, string | number | boolean | null>

export interface NewUser {
  /** 1 to 512 characters, no control characters. */
  project_user_id: string
  /** Names of 1 to 256 characters; at most 1,000 properties and 64 KiB a user. null is a value. */
  properties?: Properties
}

export interface IndexedProperty {
  /** A name for people. */
  name: string
  state: "building" | "ready"
  /** While it is built: the users visited so far. */
  visited?: number
  /** About how many users there are; absent while that is not known. */
  about?: number
  /** When, in UTC. */
  created_at: string
}

export interface UserImport {
  /** Lines that were stored. */
  imported: number
  /** Lines that were not. */
  failed: number
  /** The first 100. */
  errors: {
    /** The number of the line, from 1. */
    line: number
    /** What was wrong, as a sentence. */
    error: string
    /** What was wrong, as a word for programs. */
    code: string
  }[]
}

export interface Preferences {
  /** true: the user gets transactional messages only. */
  opted_out: boolean
  /** Every topic of the project, and whether the user gets its messages. */
  topics: Record<string, boolean>
}

export interface PreferencesChange {
  /** null is false, the default. */
  opted_out?: boolean | null
  /** Topics to change. null restores the default of the topic. */
  topics?: Record<string, boolean | null>
  /** Evidence of the choices in this request. */
  consent?: ConsentEvidence
}

export interface Consent {
  /** null: messages at all, as `opted_out` says. */
  topic: string | null
  /** true: the person wants them. */
  granted: boolean
  /** When the person chose. */
  at: string
  /** When that was stored. */
  recorded_at: string
  /** Where the person chose; null: the caller did not say. */
  source: string | null
  /** What the person agreed to; null: the caller did not say. */
  text: string | null
  /** Who sent it. An agent is a secret key with a policy. */
  via: "public_key" | "secret_key" | "agent" | "token" | "member"
  /** That caller, as the audit log names it: `key …`, `token …` or `member …`. */
  actor: string
}

export interface ConsentEvidence {
  /** Where the person chose: `checkout`, `app settings`. */
  source: string
  /** What the person agreed to: the version of a text, or the text. */
  text?: string
  /** When the person chose, RFC 3339, not in the future. Default: now. */
  at?: string
}

export interface Topic {
  /** The id: a to z, digits, _ and -. */
  topic: string
  /** As users read it. */
  name: string
  /** What the messages of this topic are about. */
  description: string
  /** For users who have made no choice. */
  default: "subscribed" | "unsubscribed"
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  updated_at: string
}

export interface Device {
  /** The id of this entry. */
  id: string
  /** What kind of device it is. */
  platform: Platform
  /** Whether it may be sent push notifications. */
  is_push_permission_granted: boolean
  /** The model of the device. */
  model: string | null
  /** Who made the device. */
  manufacturer: string | null
  /** The operating system. */
  os_name: string | null
  /** The version of the operating system. */
  os_version: string | null
  /** The name of the app. */
  app_name: string | null
  /** The version of the app. */
  app_version: string | null
  /** The kind of SDK. */
  sdk_type: string | null
  /** The version of the SDK. */
  sdk_version: string | null
  /** The advertising id, where the user allows it. */
  ad_id: string | null
  /** The region, as a country code. */
  locale_region: string | null
  /** The language, as a code. */
  locale_language: string | null
  /** The time zone, by its IANA name. */
  timezone: string | null
  /** The service's own id of the user. */
  user_id: string
  /** null: the user is anonymous. */
  project_user_id: string | null
  /** Its push token, if it has one: token_prefix, type, environment, app_identifier, registered_at; turned_off_at and turned_off_reason where a gateway reported it as dead. */
  push: Record<string, unknown> | null
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  updated_at: string
  /** When, in UTC. */
  last_seen_at: string
}

export interface ClientDevice {
  /** The id of this entry. */
  id: string
  /** What kind of device it is. */
  platform: Platform
  /** Whether it may be sent push notifications. */
  is_push_permission_granted: boolean
  /** The model of the device. */
  model: string
  /** Who made the device. */
  manufacturer: string
  /** The operating system. */
  os_name: string
  /** The version of the operating system. */
  os_version: string
  /** The name of the app. */
  app_name: string
  /** The version of the app. */
  app_version: string | null
  /** The kind of SDK. */
  sdk_type: string
  /** The version of the SDK. */
  sdk_version: string
  /** The advertising id, where the user allows it. */
  ad_id: string | null
  /** The region, as a country code. */
  locale_region: string
  /** The language, as a code. */
  locale_language: string
  /** The time zone, by its IANA name. */
  timezone: string
  /** Empty: none. */
  push_token: string
  /** APNS, FCM, WEBPUSH or empty. */
  push_token_type: string
  /** production, sandbox or empty. */
  push_environment: string
  /** Empty: not known. */
  app_identifier: string
  /** The service's own id of the user. */
  user_id: string
}

export interface DeviceRegistration {
  /** 1 to 255 characters, made by the app and kept on the phone. */
  id?: string
  /** Another name for id. */
  device_id?: string
  /** IOS, ANDROID or WEB, in any case, also with DEVICE_PLATFORM_TYPE_ before it. */
  platform?: string
  /** Absent: unchanged. null: removed. */
  model?: string | null
  /** Absent: unchanged. null: removed. */
  manufacturer?: string | null
  /** Absent: unchanged. null: removed. */
  os_name?: string | null
  /** Absent: unchanged. null: removed. */
  os_version?: string | null
  /** Absent: unchanged. null: removed. */
  app_name?: string | null
  /** Absent: unchanged. null: removed. */
  app_version?: string | null
  /** Absent: unchanged. null: removed. */
  sdk_type?: string | null
  /** Absent: unchanged. null: removed. */
  sdk_version?: string | null
  /** Absent: unchanged. null: removed. */
  ad_id?: string | null
  /** Absent: unchanged. null: removed. */
  locale_region?: string | null
  /** Absent: unchanged. null: removed. */
  locale_language?: string | null
  /** Absent: unchanged. null: removed. */
  timezone?: string | null
  /** false: the device is not reachable. null: unknown. */
  is_push_permission_granted?: boolean | null
  /** Of APNs or FCM, or a PushSubscription as JSON text or as an object. null or empty: removed. */
  push_token?: string | Record<string, unknown> | null
  /** APNS, FCM or WEBPUSH. */
  push_token_type?: string | null
  /** production (default) or sandbox. */
  push_environment?: string | null
  /** Bundle or package id; else the header X-Service-App-Identifier. */
  app_identifier?: string | null
}

export type Platform = "IOS" | "ANDROID" | "WEB"

export interface Event {
  /** The id of this entry. */
  id: string
  /** When, in UTC. */
  at: string
  /** What happened. */
  name: string
  /** The service's own id of the user. */
  user_id: string
  /** null: the user is anonymous. */
  project_user_id: string | null
  /** The id of the device. */
  device_id: string | null
  /** The id of the message. */
  message_id: string | null
  /** More about it. */
  details: Record<string, string>
  /** The custom properties, any JSON. */
  properties: Record<string, unknown>
}

export interface ClientEvent {
  /** The id that was sent. */
  id?: string
  /** The service's own id of the user. */
  user_id: string
  /** The id of the device. */
  device_id: string
  /** What happened. */
  name: string
  event_property: {
    /** The id of the message. */
    message_id?: string | null
    /** The journey this is about. */
    user_journey_id?: string
    /** The step of the journey. */
    user_journey_node_id?: string
    custom_properties: Record<string, unknown>
  }
  /** The same once more, for SDKs that read it here. */
  properties: {
    /** The id of the message. */
    message_id?: string | null
    /** The journey this is about. */
    user_journey_id?: string
    /** The step of the journey. */
    user_journey_node_id?: string
    custom_properties: Record<string, unknown>
  }
  /** When, in UTC. */
  at: string
}

export interface NewEvent {
  /** Chosen by the caller. An event of the same id is stored once within 7 days, so a retry is safe. */
  id?: string | null
  /** A registered device. */
  device_id: string
  /** 1 to 256 characters. */
  name: string
  event_property?: {
    /** The message this is about. */
    message_id?: string | null
    /** The journey this is about. */
    user_journey_id?: string | null
    /** The step of the journey. */
    user_journey_node_id?: string | null
    /** Any JSON, at most 64 KiB and 16 levels. */
    custom_properties?: Record<string, unknown> | null
  } | null
  /** Another name for event_property. In both, names that are not listed here are custom properties too. */
  properties?: {
    /** The message this is about. */
    message_id?: string | null
    /** The journey this is about. */
    user_journey_id?: string | null
    /** The step of the journey. */
    user_journey_node_id?: string | null
    /** Any JSON, at most 64 KiB and 16 levels. */
    custom_properties?: Record<string, unknown> | null
  } | null
  /** SERVICE for what an SDK records by itself. */
  source_type?: string | null
  /** When it happened, RFC 3339. Used if it lies in the last 7 days; else, and if absent, the time of arrival counts. */
  at?: string | null
}

/** Exactly one of the three. */
export interface Target {
  /** All devices of a user, by the project's own id. */
  project_user_id?: string | null
  /** One device. */
  device_id?: string | null
  /** All devices of a user, by the service's own id. */
  user_id?: string | null
}

export interface PushNotification {
  /** Exactly one of the three. */
  target: Target
  /** A title or a body must be given. */
  title?: string | null
  /** The text below the title. */
  body?: string | null
  /** A picture, by http or https. */
  image_url?: string | null
  /** What a tap opens: an absolute address of any scheme. */
  landing_url?: string | null
  /** Notifications of one key replace each other on the phone. */
  collapse_key?: string | null
  /** When it is sent: RFC 3339, at most 90 days ahead. The result is pending until then. Past: at once. */
  send_at?: string | null
  /** How long it is worth delivering; less than 10 counts as 10. */
  ttl_seconds?: number | null
  /** high, unless said otherwise. */
  priority?: "high" | "normal" | null
  /** For the app, texts only. */
  data?: Record<string, string> | null
  /** The name of a sound, or default. */
  sound?: string | null
  /** The number on the icon, 0 for none. No gateway can add to it. */
  badge?: number | null
  /** Android's notification channel. */
  channel_id?: string | null
  /** Notifications of one thread are grouped. */
  thread_id?: string | null
  /** The category that the app has registered: iOS shows its buttons. */
  category?: string | null
  /** Buttons. Browsers show the first two; on iOS the category decides. */
  actions?: {
    /** The app is told which button was tapped. */
    id: string
    /** The title. */
    title: string
    /** What the button opens. */
    landing_url?: string | null
  }[] | null
  /** How much it may disturb. critical needs an entitlement of Apple. */
  interruption_level?: "passive" | "active" | "time-sensitive" | "critical" | null
  /** Which of an app comes first in a summary of iOS. */
  relevance_score?: number | null
  /** true: nothing is shown; the app is woken with data. Browsers cannot. */
  silent?: boolean | null
}

export interface DeliveryResult {
  /** The id of the message. */
  message_id: string
  /** SUCCEED: a gateway accepted it. PENDING: it is still being tried. */
  status: DeliveryStatus
  additional_params: {
    /** The device; empty where there is none. */
    device_id: string
    /** The id the gateway gave it; empty where there is none. */
    gateway_message_id: string
    /** Why not, as [CODE] and a sentence; else empty. */
    failure_reason: string
    /** Each device. Only with ?expand=devices. */
    devices?: DeviceOutcome[]
    /** Whether it went to the simulator. Only with ?expand=devices. */
    simulated?: boolean
  }
}

export interface DeliveryResults {
  /** One for each item, in order. */
  delivery_results: DeliveryResult[]
}

/** SUCCEED: a gateway accepted it. PENDING: it is still being tried. */
export type DeliveryStatus = "DELIVERY_RESULT_STATUS_SUCCEED" | "DELIVERY_RESULT_STATUS_FAILED" | "DELIVERY_RESULT_STATUS_PENDING"

export interface DeviceOutcome {
  /** The device; empty where there is none. */
  device_id: string
  /** The id the gateway gave it; empty where there is none. */
  gateway_message_id: string
  /** Why not, as [CODE] and a sentence; else empty. */
  failure_reason: string
  /** SUCCEED: a gateway accepted it. PENDING: it is still being tried. */
  status: DeliveryStatus
}

export interface Message {
  /** The id of the message. */
  message_id: string
  /** SUCCEED: a gateway accepted it. PENDING: it is still being tried. */
  status: DeliveryStatus
  additional_params: {
    /** The device; empty where there is none. */
    device_id: string
    /** The id the gateway gave it; empty where there is none. */
    gateway_message_id: string
    /** Why not, as [CODE] and a sentence; else empty. */
    failure_reason: string
    /** Each device. Only with ?expand=devices. */
    devices?: DeviceOutcome[]
    /** Whether it went to the simulator. Only with ?expand=devices. */
    simulated?: boolean
  }
  /** The trigger that sent it; null if none did. */
  trigger_id: string | null
  /** The campaign that sent it; null if none did. */
  campaign_id: string | null
  /** When, in UTC. */
  created_at: string
  /** Each device it went to. */
  devices: MessageEntry[]
}

export interface MessageEntry {
  /** The id of the message. */
  message_id: string
  /** The device; empty where there is none. */
  device_id: string
  /** The id the gateway gave it; empty where there is none. */
  gateway_message_id: string
  /** Why not, as [CODE] and a sentence; else empty. */
  failure_reason: string
  /** SUCCEED: a gateway accepted it. PENDING: it is still being tried. */
  status: DeliveryStatus
  /** The last three are final. */
  state: MessageState
  /** The trigger that sent it; null if none did. */
  trigger_id: string | null
  /** The campaign that sent it; null if none did. */
  campaign_id: string | null
  /** The variant of the campaign; null where it has none. */
  variant: string | null
  /** The language of the text, as a tag; null where the campaign names none. */
  language: string | null
  /** The step of the campaign; null where it has none. */
  step: string | null
  /** The service's own id of the user; null where there is none. */
  user_id: string | null
  /** The project's own id of the user; null where there is none. */
  project_user_id: string | null
  /** A notification, or a step in the life of a Live Activity. */
  kind: "alert" | "activity-start" | "activity-update" | "activity-end"
  /** The title of a notification. */
  title: string | null
  /** The text of a notification. */
  body: string | null
  /** The gateway it was dispatched to, as in the routes of gateways. */
  gateway: string | null
  /** The gateway's own word for a failure. */
  gateway_code: string | null
  /** How often it was dispatched to a gateway. */
  attempts: number
  /** Sent to the simulator. */
  simulated: boolean
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  handed_at: string | null
  /** When, in UTC. */
  settled_at: string | null
  /** When, in UTC. */
  delivered_at: string | null
  /** When, in UTC. */
  tapped_at: string | null
  /** When, in UTC. */
  expires_at: string
}

/** The last three are final. */
export type MessageState = "queued" | "handed" | "unknown" | "accepted" | "failed" | "skipped"

export interface MessageMinute {
  /** When it began. */
  minute: string
  /** Accepted by a gateway. */
  sent: number
  /** Refused for good, or not accepted in time. */
  failed: number
  /** Reported by apps. */
  delivered: number
  /** Reported by apps. */
  tapped: number
}

export interface LiveActivityStart {
  /** Exactly one of the three. */
  target: Target
  /** The Swift type of the attributes. */
  attributes_type: string
  /** What stays the same. At most 16 KiB. */
  attributes: Record<string, unknown>
  /** What changes while it runs. At most 16 KiB. */
  content_state?: Record<string, unknown>
  /** The broadcast channel that the activity listens to (iOS 18). Without content_state it starts with the newest state of the channel. */
  channel_id?: string | null
  /** What the phone shows with it. A start without one says Live Activity / Started. */
  alert?: LiveActivityAlert | null
  /** How long it is worth delivering; less than 10 counts as 10. */
  ttl_seconds?: number | null
  /** high, unless said otherwise. */
  priority?: "high" | "normal" | null
}

export interface LiveActivityChange extends LiveActivityChannelChange {
  /** One running activity; or else target and attributes_type. */
  activity_id?: string | null
  /** Exactly one of the three. */
  target?: Target
  /** The Swift type of the attributes. */
  attributes_type?: string
}

/** What the phone shows with it. A start without one says Live Activity / Started. */
export interface LiveActivityAlert {
  /** The title. */
  title: string
  /** The text. */
  body: string
}

export interface LiveActivityChannel {
  /** The id in this service. */
  channel_id: string
  /** Apple's id, for apps that subscribe by themselves; null until Apple has created it. */
  apns_channel_id: string | null
  attributes_type: string
  /** The bundle id. */
  app: string
  /** production or sandbox. */
  push_environment: string
  /** none or most_recent. */
  storage: string
  /** creating, active, deleting or failed. */
  status: string
  /** Why Apple did not do it yet, as [CODE] and a sentence; else empty. */
  failure_reason: string
  /** The newest state, with which later activities start. */
  content_state: Record<string, unknown> | null
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  updated_at: string
}

export interface LiveActivityChannelWithChange extends LiveActivityChannel {
  /** The newest change; null if there was none. */
  last_change: {
    /** As in the result of the change. */
    message_id: string
    /** update or end. */
    event: string
    /** The time by which phones order changes; null until it was handed over. */
    timestamp: number | null
    /** As in delivery results. */
    status: string
    failure_reason: string
    /** When, in UTC. */
    created_at: string
  } | null
}

export interface LiveActivityChannelChange {
  /** What changes while it runs. At most 16 KiB. */
  content_state: Record<string, unknown>
  /** From when on it counts as out of date. Unix seconds or RFC 3339, with Z or an offset. */
  stale_date?: number | string | null
  /** When an ended one leaves the screen. Unix seconds or RFC 3339, with Z or an offset. */
  dismissal_date?: number | string | null
  /** What the phone shows with it. A start without one says Live Activity / Started. */
  alert?: LiveActivityAlert | null
  /** How long it is worth delivering; less than 10 counts as 10. */
  ttl_seconds?: number | null
  /** high, unless said otherwise. */
  priority?: "high" | "normal" | null
}

export interface CampaignSummary {
  /** The id of the campaign. */
  campaign_id: string
  /** The display name. */
  name: string
  /** api_triggered, scheduled or event_triggered. Only the first can be triggered. */
  type: string
  /** The state, in a word. */
  status: CampaignStatus
  /** Increases with every change. */
  version: number
  /** null: the campaign has no topic. */
  topic: string | null
  /** When, in UTC. */
  updated_at: string
}

export interface Campaign {
  /** The id of the campaign. */
  campaign_id: string
  /** A name for people. */
  name: string
  /** What kind it is. */
  type: CampaignType
  /** Only an active campaign can be triggered. */
  status: CampaignStatus
  /** Who may receive the campaign: see docs/reference/segments.md. Absent or empty: everyone. */
  segment: Record<string, unknown>
  default_audience?: CampaignAudience
  /** For scheduled campaigns: they go to their default_audience. */
  schedule?: CampaignSchedule
  /** For event_triggered campaigns: they go to the user of the event. */
  event_trigger?: CampaignEventTrigger
  /** Users who said no to this topic are left out. */
  topic?: string
  /** true: preferences and the limits of the project do not hold it back, as with a receipt or a code. */
  transactional?: boolean
  message?: CampaignMessage
  /** Instead of message: each user gets one. */
  variants?: CampaignVariant[]
  /** Instead of message: one after another. */
  steps?: CampaignStep[]
  /** A user who sends this event leaves the steps. */
  exit?: CampaignEvent
  /** Percent of the users who get nothing, to compare with. */
  holdout?: number
  winner?: {
    /** Messages that are sent before the choice. */
    after: number
    /** The rate that decides. */
    by: "conversion" | "tapped" | "delivered"
  }
  /** skip: a user for whom a template lacks a value gets nothing. Absent: send. */
  on_missing?: "send" | "skip"
  conversion?: {
    /** The event that counts as success. */
    event: string
    /** After the message: 7d. */
    within: string
    /** The number property of the event that is summed up. */
    value_property?: string
  }
  live_activity?: CampaignLiveActivity
  ttl_seconds?: number
  throttle_per_second?: number
  frequency_cap?: {
    /** How many. */
    count: number
    /** 15m, 24h, 30d. */
    within: string
  }
  quiet_hours?: QuietHours
  /** Increases with every change. Send it as If-Match to change only this version. */
  version: number
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  updated_at: string
  /** Variants that all recipients get. Absent: none was chosen. */
  winners?: CampaignWinner[]
  /** For an active scheduled campaign, when it is read by itself: its next three times in UTC; with timezone user, as local times. */
  next_at?: string[]
  /** Parts of the campaign that probably do not do what was meant. */
  warnings: string[]
}

export interface SavedCampaign extends Campaign {
  /** The effect of the request. An identical campaign is not saved again. */
  result: "created" | "updated" | "unchanged"
}

/** A campaign, as in a campaign file. */
export interface NewCampaign {
  /** 1 to 255 characters of your choice; a UUIDv7 if absent. */
  campaign_id?: string
  /** A name for people. */
  name: string
  /** What kind it is. */
  type?: CampaignType
  /** Only an active campaign can be triggered. */
  status?: CampaignStatus
  /** Who may receive the campaign: see docs/reference/segments.md. Absent or empty: everyone. */
  segment?: Record<string, unknown>
  default_audience?: CampaignAudience
  /** For scheduled campaigns: they go to their default_audience. */
  schedule?: CampaignSchedule
  /** For event_triggered campaigns: they go to the user of the event. */
  event_trigger?: CampaignEventTrigger
  /** Users who said no to this topic are left out. */
  topic?: string
  /** true: preferences and the limits of the project do not hold it back, as with a receipt or a code. */
  transactional?: boolean
  message?: CampaignMessage
  /** Instead of message: each user gets one. */
  variants?: CampaignVariant[]
  /** Instead of message: one after another. */
  steps?: CampaignStep[]
  /** A user who sends this event leaves the steps. */
  exit?: CampaignEvent
  /** Percent of the users who get nothing, to compare with. */
  holdout?: number
  winner?: {
    /** Messages that are sent before the choice. */
    after: number
    /** The rate that decides. */
    by: "conversion" | "tapped" | "delivered"
  }
  /** skip: a user for whom a template lacks a value gets nothing. Absent: send. */
  on_missing?: "send" | "skip"
  conversion?: {
    /** The event that counts as success. */
    event: string
    /** After the message: 7d. */
    within: string
    /** The number property of the event that is summed up. */
    value_property?: string
  }
  live_activity?: CampaignLiveActivity
  ttl_seconds?: number
  throttle_per_second?: number
  frequency_cap?: {
    /** How many. */
    count: number
    /** 15m, 24h, 30d. */
    within: string
  }
  quiet_hours?: QuietHours
}

export interface CampaignVersion {
  /** Increases with every change. */
  version: number
  /** Who did it: a member, a token or a key, by id. */
  actor: string
  /** The name of the key, token or person; null if it is not known any more. */
  actor_name: string | null
  /** When, in UTC. */
  created_at: string
  /** The campaign in this version. */
  campaign: Record<string, unknown>
}

export interface CampaignTotals {
  /** Number of triggers. */
  triggers: number
  /** Messages to devices, as in a trigger. */
  targeted: number
  /** Accepted by a gateway. */
  sent: number
  /** Refused for good, or not accepted in time. */
  failed: number
  /** Not sent on purpose. */
  skipped: number
  /** Reported by apps. */
  delivered: number
  /** Reported by apps. */
  tapped: number
}

/** Only an active campaign can be triggered. */
export type CampaignStatus = "draft" | "active" | "paused" | "archived"

export type CampaignType = "api_triggered" | "scheduled" | "event_triggered"

export interface CampaignMessage {
  /** At least one of title and body. A Liquid template. */
  title?: string
  /** At least one of title and body. A Liquid template. */
  body?: string
  /** http or https. A Liquid template. */
  image_url?: string
  /** An absolute address of any scheme. A Liquid template. */
  landing_url?: string
  /** The name of a sound, or default. */
  sound?: string
  /** The number on the icon, 0 for none, or a template of one. No gateway can add to it. */
  badge?: number | string
  /** Android's notification channel. */
  channel_id?: string
  /** Notifications of one thread are grouped. A Liquid template. */
  thread_id?: string
  /** Notifications of one key replace each other on the phone. A Liquid template. */
  collapse_key?: string
  /** The category that the app has registered: iOS shows its buttons. */
  category?: string
  /** Buttons. Browsers show the first two; on iOS the category decides. */
  actions?: {
    /** The app is told which button was tapped. */
    id: string
    /** The text of the button. A Liquid template. */
    title: string
    /** What the button opens: an absolute address of any scheme. A Liquid template. */
    landing_url?: string
  }[]
  /** How much it may disturb. critical needs an entitlement of Apple. */
  interruption_level?: "passive" | "active" | "time-sensitive" | "critical"
  /** Which of an app comes first in a summary of iOS. */
  relevance_score?: number
  /** true: nothing is shown; the app is woken with data. Browsers cannot. */
  silent?: boolean
  /** For the app, texts only. Each is a Liquid template. */
  data?: Record<string, string>
  /** Of the texts beside it: en, pt-BR. */
  language?: string
  /** By language tag: {de: {title: Hallo}, pt-BR: {title: Olá}}. */
  translations?: Record<string, CampaignTranslation>
}

/** The texts of one language. A text that is absent or empty here is the one of the default language. */
export interface CampaignTranslation {
  /** At least one of title and body. A Liquid template. */
  title?: string
  /** At least one of title and body. A Liquid template. */
  body?: string
  /** http or https. A Liquid template. */
  image_url?: string
  /** An absolute address of any scheme. A Liquid template. */
  landing_url?: string
  /** The texts of buttons by their ids: {open: Öffnen}. */
  actions?: Record<string, string>
}

export interface CampaignVariant {
  /** Of your choice. Users keep their variant while ids and weights stay. */
  id: string
  /** The share of users, relative to the others. */
  weight: number
  message: CampaignMessage
}

export interface CampaignStep {
  /** Of your choice. */
  id: string
  /** After the step before it: 2d. */
  wait?: string
  message?: CampaignMessage
  /** Instead of message. */
  variants?: CampaignVariant[]
}

/** For scheduled campaigns: they go to their default_audience. */
export interface CampaignSchedule {
  /** Once, at this local time: 2026-12-24T18:00. */
  at?: string
  /** Again and again, by five fields: 0 9 * * 1. */
  cron?: string
  /** An IANA name, or user: each user's property timezone, else that of the device seen last. Absent: UTC. */
  timezone?: string
  /** For users without a time zone. Absent: UTC. */
  fallback_timezone?: string
  /** For cron: not before this time. */
  starts_at?: string
  /** For cron: not after this time. */
  ends_at?: string
  /** An occurrence that was missed by less than this is sent late. Absent: 1h. */
  late?: string
}

/** For event_triggered campaigns: they go to the user of the event. */
export interface CampaignEventTrigger {
  /** The name of the event. */
  event: string
  /** Conditions on the event, as in a segment: {attribute: event.amount, operator: greater_than, value: 50}. */
  where?: Record<string, unknown>[]
  /** Between the event and the message: 30m. Absent: none. */
  delay?: string
  /** The message is not sent if the user sends this event during the delay. */
  unless?: CampaignEvent
  /** every event, once, or again after a duration such as 7d. Absent: every. */
  reentry?: string
}

export interface CampaignEvent {
  /** The name of the event. */
  event: string
  /** Conditions on the event, as in a segment: {attribute: event.amount, operator: greater_than, value: 50}. */
  where?: Record<string, unknown>[]
}

export interface CampaignLiveActivity {
  attributes_type: string
  /** Strings inside are Liquid templates. */
  attributes: Record<string, unknown>
  /** Strings inside are Liquid templates. */
  content_state: Record<string, unknown>
  alert?: {
    /** Default: Live Activity. A Liquid template. */
    title?: string
    /** Default: Started. A Liquid template. */
    body?: string
  }
  /** Apple's id of the broadcast channel that the activities listen to (iOS 18). Default: none. A Liquid template. */
  apns_channel_id?: string
}

export interface CampaignAudience {
  /** true: everyone in the segment; targets are ignored. */
  broadcast?: boolean
  targets?: {
    /** The project's own id of the user; percent-encoded where it stands in a path. */
    project_user_id?: string
    /** The id of the device. */
    device_id?: string
    /** The service's own id of a user. */
    user_id?: string
  }[]
}

export interface CampaignWinner {
  /** The step; null: the campaign has none. */
  step: string | null
  /** The variant that all recipients get. */
  variant: string
  /** The variants it was chosen among. It counts while the campaign has these. */
  among: string[]
  /** The rate that decided: conversion, tapped or delivered. null: it was chosen by hand. */
  by: string | null
  /** When, in UTC. */
  chosen_at: string
}

export interface CampaignPreview {
  /** The version that was previewed; absent for a draft. */
  campaign_version?: number
  /** Only for keys whose policy wants broadcasts to be confirmed: a trigger with this id sends what is shown here, within 15 minutes. */
  confirmation_id?: string
  /** The users and devices that would receive the message. */
  audience: {
    /** Users with a device that would receive the message. */
    users: number
    /** Devices that would receive the message. */
    devices: number
    /** Of these devices, those that get it later, when quiet hours are over. */
    deferred: number
    /** false: the time was too short for the whole audience, and the numbers are lower bounds. */
    complete: boolean
    /** Why the audience is empty, or why it was not counted completely. */
    reason: string | null
    /** Number of targets and devices that would be skipped, by reason. */
    skipped: Record<string, number>
    /** If the time was too short for everyone: how many users were compared until then. */
    visited?: number
    /** With `visited`: about how many users the project has, if that is known. */
    about?: number
  }
  /** Up to five devices. */
  sample: {
    /** null: the user of the device is anonymous. */
    project_user_id: string | null
    /** The id of the device. */
    device_id: string
    /** What kind of device it is. */
    platform: string
    /** Why the message would not be sent; null: it would be. */
    reason: string | null
    /** The rendered message. */
    content: Record<string, unknown> | null
    /** The variant of this user; null: the campaign has none. */
    variant: string | null
    /** The language of the text; null: the campaign names none. */
    language: string | null
    /** Values in the text that are missing and have no default: trigger.code, user.name. */
    missing: string[]
    /** The size of the payload for the gateway of this device: APNs and FCM take 4,096, Web Push 3,993. */
    payload_bytes: number | null
  }[]
  /** Every step, variant and language, as the first device of the sample would see it: up to 50. Empty if the campaign has a single text. */
  texts: {
    /** The step; null: the campaign has none. */
    step: string | null
    /** The variant; null: the campaign has none. */
    variant: string | null
    /** The language; null: the campaign names none. */
    language: string | null
    /** The rendered message. */
    content: Record<string, unknown> | null
    /** Why it cannot be rendered; null: it can. */
    reason: string | null
    /** Values in the text that are missing and have no default: trigger.code, user.name. */
    missing: string[]
  }[]
  /** Values that templates use without a default, and that are missing. on_missing: skip leaves these devices out. */
  missing_values: {
    /** Devices whose message was rendered: up to 50. */
    sampled: number
    /** For how many of them a value was missing, by its name. */
    names: Record<string, number>
  }
  /** The values of the trigger, or of the event, that the campaign refers to; at most 100. */
  trigger_properties: {
    /** The name after trigger, such as code or order.total. */
    name: string
    /** The same as a list: names may hold dots. */
    path: string[]
    /** What the campaign does with the value suggests this type; json: a list or an object. */
    type: "text" | "number" | "boolean" | "json"
    /** A text has neither a default nor a condition for it, or the segment needs it. */
    required: boolean
    /** Where the campaign uses it: message.title, segment. */
    paths: string[]
  }[]
  /** For a draft with a schedule: its next five times in UTC; with timezone user, as local times. Empty: none lies ahead. */
  next_at?: string[]
  /** For a draft: what it lacks before it can be active, by field. Empty: nothing. */
  cannot_run?: {
    path: string
    message: string
  }[]
  /** Fields of the request that a trigger ignores, as unknown field "recipients"; at most five. For a draft also what saving it warns of. */
  warnings: string[]
}

export interface CampaignStats {
  /** Users and conversions of the holdout are not in it. */
  totals: Figures
  series: {
    /** The begin of the hour or of the day, in UTC. */
    at: string
    /** Devices with a message or a skip. */
    targeted: number
    /** Messages that gateways accepted. */
    sent: number
    /** Lines that were not. */
    failed: number
    /** Devices and targets that got nothing. */
    skipped: number
    /** Messages that devices reported as arrived. */
    delivered: number
    /** Messages that were tapped. */
    tapped: number
    /** Users with a message, each once for each trigger; in the group holdout, users held out. */
    users: number
    /** Users who sent the conversion event in time, each once for each trigger. */
    converted: number
    /** The sum of value_property over all conversion events. */
    conversion_value: number
  }[]
  /** Empty unless by is given. */
  groups: {
    /** The variant, language or step; holdout; or null for devices without one. */
    key: string | null
    totals: Figures
  }[]
}

export interface CampaignJourneys {
  /** Users on their way. */
  waiting: number
  completed: number
  exited: number
  stopped: number
  /** How often a user could not enter again. */
  not_entered_again: number
  /** Users who wait, by version and step. */
  steps: {
    campaign_version: number
    /** The step that they wait for; null: the campaign has no steps. */
    step: string | null
    waiting: number
    /** When, in UTC. */
    next_due_at: string
  }[]
}

export interface ProjectStats {
  /** Campaigns and direct sends together, without the holdout. */
  totals: Figures
  /** Messages that were sent without a campaign. */
  direct: Figures
  series: {
    /** The begin of the hour or of the day, in UTC. */
    at: string
    /** Devices with a message or a skip. */
    targeted: number
    /** Messages that gateways accepted. */
    sent: number
    /** Lines that were not. */
    failed: number
    /** Devices and targets that got nothing. */
    skipped: number
    /** Messages that devices reported as arrived. */
    delivered: number
    /** Messages that were tapped. */
    tapped: number
    /** Users with a message, each once for each trigger; in the group holdout, users held out. */
    users: number
    /** Users who sent the conversion event in time, each once for each trigger. */
    converted: number
    /** The sum of value_property over all conversion events. */
    conversion_value: number
  }[]
  /** Those with the most targets first; 100 at most. */
  campaigns: {
    /** The id of the campaign. */
    campaign_id: string
    /** Null if the campaign was deleted. */
    name: string | null
    totals: Figures
  }[]
}

export interface Figures {
  /** Devices with a message or a skip. */
  targeted: number
  /** Messages that gateways accepted. */
  sent: number
  /** Lines that were not. */
  failed: number
  /** Devices and targets that got nothing. */
  skipped: number
  /** Messages that devices reported as arrived. */
  delivered: number
  /** Messages that were tapped. */
  tapped: number
  /** Users with a message, each once for each trigger; in the group holdout, users held out. */
  users: number
  /** Users who sent the conversion event in time, each once for each trigger. */
  converted: number
  /** The sum of value_property over all conversion events. */
  conversion_value: number
}

export interface QuietHours {
  /** Local time, 22:00. */
  from: string
  /** Local time; on the next day if it is before from. */
  to: string
  /** device, user (the property timezone, else the device, else UTC) or an IANA name. */
  timezone: string
  /** skip: the message is not sent. hold: the message is sent when the quiet hours are over. */
  action: "skip" | "hold"
}

export interface Journey {
  journey_id: string
  /** The id of the campaign. */
  campaign_id: string
  /** The version with which the user entered, and finishes. */
  campaign_version: number
  /** The event, or the trigger, with which it began. */
  source: {
    /** secret: for your backend. public: safe inside an app, and able to do less. */
    kind: "event" | "trigger"
    [name: string]: unknown
  }
  /** exited: by an event. stopped: the campaign was not active when the next message was due. */
  state: "waiting" | "completed" | "exited" | "stopped"
  /** The state in a sentence. */
  message: string
  /** The step that comes next, or would have come; null: the campaign has no steps, or all were sent. */
  step: string | null
  /** When, in UTC. */
  entered_at: string
  /** When the next message is due; null if none is. */
  due_at: string | null
  /** In UTC; null: not yet. */
  ended_at: string | null
  /** The name of the event by which the user left, or why the campaign stopped. */
  reason: string | null
  /** How often the user could not enter again meanwhile. */
  not_entered_again: number
}

export interface Trigger {
  /** The id of the trigger. */
  trigger_id: string
  /** The id of the campaign. */
  campaign_id: string
  /** The version that was current when the trigger was accepted. */
  campaign_version: number
  /** scheduled: it waits for its send_at. The last three are final: no message is pending. */
  state: TriggerState
  /** Why the trigger failed or was canceled by the service, or no_audience; otherwise null. */
  reason: string | null
  /** What made the trigger: a call, an occurrence of a schedule, an event, or a step of a sequence. */
  source: TriggerSource
  /** The step of the campaign that it sends; null: the campaign has no steps. */
  step: string | null
  /** When, in UTC. */
  accepted_at: string
  /** When a scheduled trigger starts, or should have started; null: at once. */
  send_at: string | null
  /** In UTC; null: not yet. */
  expanded_at: string | null
  /** In UTC; null: not yet. */
  ended_at: string | null
  /** Messages to devices. A target without a device counts as one skipped. */
  counts: TriggerCounts
  /** Number of skipped messages by reason. */
  skipped: Record<string, number>
  /** Number of failed messages by reason. */
  failures: Record<string, number>
  /** Who sent the conversion event of the campaign in time, also of users who were held out. */
  conversions: {
    /** Users, each once. */
    converted: number
    /** The sum over their events. */
    value: number
  }
}

export interface AuthoredTrigger extends Trigger {
  /** Who made it: `key …`, `token …` or `member …`; null: the service itself, or not recorded. */
  actor: string | null
  /** The name of that key, token or person; null: not known. */
  actor_name: string | null
}

export interface TriggerRequest {
  /** The recipients. Absent or null: the campaign's default audience. Without targets: no recipients. */
  audience?: {
    /** true: everyone in the campaign's segment; targets are ignored. */
    broadcast?: boolean | null
    /** At most 20,000, each with exactly one of project_user_id, device_id and user_id, and with properties of its own if it needs some. Targets outside the segment receive nothing. */
    targets?: TriggerTarget[]
  } | null
  /** For templates and conditions, as {{ trigger.name }}. Any JSON, at most 1 MiB. */
  properties?: Record<string, unknown> | null
  /** When it is sent: RFC 3339, at most 90 days ahead. Users, devices and segment are looked up then. Absent, null or past: at once. */
  send_at?: string | null
  /** Only for keys whose policy wants broadcasts to be confirmed: the id of a preview of the same request. Other keys get a warning for it. */
  confirmation_id?: unknown
}

/** Exactly one of project_user_id, device_id and user_id. */
export interface TriggerTarget {
  /** The project's own id of the user; percent-encoded where it stands in a path. */
  project_user_id?: string
  /** The id of the device. */
  device_id?: string
  /** The service's own id of a user. */
  user_id?: string
  /** Merged over the properties of the trigger, for this target. All targets together: at most 8 MiB. */
  properties?: Record<string, unknown> | null
}

/** scheduled: it waits for its send_at. The last three are final: no message is pending. */
export type TriggerState = "scheduled" | "accepted" | "running" | "canceling" | "completed" | "canceled" | "failed"

/** Messages to devices. A target without a device counts as one skipped. */
export interface TriggerCounts {
  /** sent + failed + skipped + pending. */
  targeted: number
  /** Accepted by a gateway. */
  sent: number
  /** Refused for good, or not accepted in time. */
  failed: number
  /** Not sent on purpose; skipped has the reasons. */
  skipped: number
  /** Not settled yet. */
  pending: number
  /** Reported by apps. */
  delivered: number
  /** Reported by apps. */
  tapped: number
}

/** What made the trigger: a call, an occurrence of a schedule, an event, or a step of a sequence. */
export type TriggerSource = {
  /** secret: for your backend. public: safe inside an app, and able to do less. */
  kind: "api" | "schedule" | "event" | "step"
  [name: string]: unknown
}

export interface TriggerSize {
  /** Devices and targets that it concerns: what counts.targeted comes to. */
  devices: number
  /** false: the time was too short, and there are more. */
  complete: boolean
}

export interface Explanation {
  /** The id of the trigger. */
  trigger_id: string
  /** The project's own id of the user; percent-encoded where it stands in a path. */
  project_user_id: string
  /** scheduled: it waits for its send_at. The last three are final: no message is pending. */
  state: TriggerState
  /** In the order of the checks. Checks that left no trace are made again, as of now. */
  gates: Gate[]
  /** The devices of the user, the last seen first; at most 100. */
  devices: {
    /** The id of the device. */
    device_id: string
    /** The message to this device; null: none was written. */
    message_id: string | null
    /** The state of the message; pending: it is not written yet; none: there is no message. */
    state: string
    /** In the order of the checks. Checks that left no trace are made again, as of now. */
    gates: Gate[]
  }[]
}

export interface Gate {
  /** The check. */
  gate: "project" | "schedule" | "audience" | "user" | "segment" | "device" | "rules" | "delivery"
  /** Whether the check was passed. */
  passed: boolean
  /** Why not, as a word for programs; null where the check was passed. */
  reason: string | null
  /** The same as a sentence. */
  message: string
  /** Of the gate segment: each condition with the value that the user has now, as “age is 19, needs more than 30”. Groups have conditions of their own. */
  conditions?: GateCondition[]
}

export interface GateCondition {
  passed: boolean
  message: string
  conditions?: Record<string, unknown>[]
}

export interface Project {
  /** The id of this entry. */
  id: string
  /** A name for people. */
  name: string
  /** Whether messages go to the built-in simulator or to real gateways. */
  mode: "simulator" | "live"
  /** The plan, which sets the campaign triggers per second. */
  plan: string
  /** Requests and triggers per second. 0: no limit. */
  limits: {
    /** 0: no limit. */
    requests_per_second: number
    /** 0: no limit. */
    client_requests_per_second: number
    /** 0: no limit. */
    triggers_per_second: number
  }
  /** How long history is kept. */
  retention: {
    /** Days that events are kept. */
    events_days: number
    /** Days that messages are kept. */
    messages_days: number
  }
  /** When, in UTC. */
  created_at: string
  /** When the project was paused; null while it runs. */
  paused_at: string | null
  /** The most messages to one user, over all campaigns. Transactional messages pass. */
  message_limits: MessageLimit[]
  /** Over all campaigns, beside a campaign's own. Transactional messages pass. null: none. */
  quiet_hours: QuietHours | null
  /** true: apps prove who their user is, by the header X-Service-User-Token. */
  identity_verification: boolean
  /** true: analytics SDKs may send to /v1, with a public key as their write key. */
  intake: boolean
}

export interface MessageLimit {
  /** Messages to one user. */
  count: number
  /** 15m, 24h, 30d. */
  within: string
  /** Only messages of this topic. Absent: of all campaigns. */
  topic?: string
}

export interface Key {
  /** The id of this entry. */
  id: string
  /** secret: for your backend. public: safe inside an app, and able to do less. */
  kind: KeyKind
  /** A name for people. */
  name: string
  /** How the text begins, to tell one from another. */
  prefix: string
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  last_used_at: string | null
  /** When it stops working; null: never. */
  expires_at: string | null
  /** What the holder of the key may do; null: everything that the key opens. */
  policy: KeyPolicy | null
}

export interface CreatedKey {
  /** The id of this entry. */
  id: string
  /** secret: for your backend. public: safe inside an app, and able to do less. */
  kind: KeyKind
  /** A name for people. */
  name: string
  /** The whole key. It is shown this once. */
  key: string
  /** How the text begins, to tell one from another. */
  prefix: string
  /** When, in UTC. */
  created_at: string
  /** When it stops working; null: never. */
  expires_at: string | null
  /** What the holder of the key may do; null: everything that the key opens. */
  policy: KeyPolicy | null
}

export interface RotatedKey extends CreatedKey {
  /** The key that was rotated. */
  replaces: {
    /** The id of this entry. */
    id: string
    /** Until when the old key works. */
    expires_at: string
  }
}

export type KeyKind = "secret" | "public"

export interface KeyPolicy {
  /** The skills that the key may use, on every surface. On /api/v1 each opens the routes that do the same, and all others are refused. null: all. */
  skills: string[] | null
  /** Distinct users that one action may reach. null: no limit. */
  max_recipients: number | null
  /** Recipients of all actions within any 24 hours. null: no limit. */
  max_recipients_per_day: number | null
  /** An action that reaches more users than this waits for a person. null: none does. */
  approval_above: number | null
  /** A broadcast needs the confirmationId of a preview. */
  confirm_broadcasts: boolean
  /** The key reads and previews; it changes and sends nothing. */
  dry_run: boolean
  /** Hours in which the key sends nothing. null: none. */
  quiet_hours: {
    /** Local time, 22:00. */
    from: string
    /** Local time; on the next day if it is before from. */
    to: string
    /** The IANA name of a time zone; UTC by default. */
    timezone: string
  } | null
}

export interface IdentitySecret {
  /** Signs tokens with HS256. It is shown this once. */
  secret: string
  /** Until when tokens of the previous secret are valid; null: there was none. */
  previous_until: string | null
}

export interface Token {
  /** The id of this entry. */
  id: string
  /** A name for people. */
  name: string
  /** admin may do everything, editor changes content, viewer reads. */
  role: Role
  /** The id of the project: 1 to 64 letters, digits, _ or -. */
  project_id: string | null
  /** How the text begins, to tell one from another. */
  prefix: string
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  last_used_at: string | null
}

export interface CreatedToken {
  /** The id of this entry. */
  id: string
  /** A name for people. */
  name: string
  /** admin may do everything, editor changes content, viewer reads. */
  role: Role
  /** The id of the project: 1 to 64 letters, digits, _ or -. */
  project_id: string | null
  /** The whole token. It is shown this once. */
  token: string
  /** How the text begins, to tell one from another. */
  prefix: string
  /** When, in UTC. */
  created_at: string
}

export type Role = "admin" | "editor" | "viewer"

export interface AuditEntry {
  /** The id of this entry. */
  id: string
  /** When, in UTC. */
  at: string
  /** Who did it: a member, a token or a key, by id. */
  actor: string
  /** The name of the key, token or person, also of a deleted one; null if it is not known any more. */
  actor_name: string | null
  /** Of a token or a person; null for a key. */
  actor_role: string | null
  /** What was done. */
  action: string
  /** The action in words. The sentence is actor_name, phrase, target_name: "Ada activated the campaign Welcome". */
  phrase: string
  /** To what. */
  target: string
  /** The name that the target had then; its id if it has none. */
  target_name: string
  /** More about it. `before` has the former values of the changed fields. */
  details: Record<string, unknown>
}

export interface Actor {
  /** Who did it: a member, a token or a key, by id. */
  actor: string
  /** The name of the key, token or person, also of a deleted one; null if it is not known any more. */
  name: string | null
  /** admin may do everything, editor changes content, viewer reads. */
  role: string | null
}

export interface Node {
  /** The id of this entry. */
  id: string
  /** admin may do everything, editor changes content, viewer reads. */
  role: "all" | "api" | "worker"
  host?: string
  pid?: number
  version: string
  /** When, in UTC. */
  started_at: string
  /** When, in UTC. */
  seen_at: string
}

export interface DeadJob {
  /** The id of this entry. */
  id: string
  /** The kind of job. */
  name: string
  /** Its project; null for a job of the installation. */
  project_id: string | null
  /** How often it was attempted. */
  attempts: number
  /** The error of the last attempt. */
  error: string
  /** When, in UTC. */
  created_at: string
  /** When the last attempt failed. */
  died_at: string
}

export interface Erasure {
  erasure_id: string
  /** The id of the project: 1 to 64 letters, digits, _ or -. */
  project_id: string
  /** A keyed hash of the project_user_id. The id itself is not kept. */
  subject: string
  /** The token or the member that asked for it. */
  actor: string
  /** When, in UTC. */
  requested_at: string
  /** When, in UTC. */
  completed_at: string
  /** By table: rows that were deleted, or rewritten without the user. Each counts once. */
  erased: Record<string, number>
  /** What still holds the id, why, and until when. */
  remaining: ErasureRemainder[]
  /** Proves that this project issued the receipt as it is. */
  signature: string
}

export interface ErasureRemainder {
  table: string
  /** Rows that still hold the id; 0 if they could not be searched. */
  rows: number
  reason: string
  /** When the last of them ends. null: until you change it. */
  until: string | null
}

export interface Member {
  /** The person. A member of several projects has one id, and an item for each. */
  id: string
  /** The address of a person. */
  email: string
  /** null until the invitation is accepted. */
  name: string | null
  /** admin may do everything, editor changes content, viewer reads. */
  role: Role
  /** null: the whole installation. */
  project_id: string | null
  state: "invited" | "active"
  /** oidc: the role is read from the identity provider at each sign-in. */
  source: "invitation" | "oidc"
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  last_seen_at: string | null
  /** Until when the invitation can be accepted; null: it was accepted, or it expired. */
  invitation_expires_at: string | null
}

export interface InvitedMember extends Member {
  /** For the person, by a way that you trust. */
  invitation: MemberLink
}

export interface MemberLink {
  /** The whole address. It works once; only this response contains it. */
  link: string
  /** The same below the address of the service. The code follows the #. */
  path: string
  /** When, in UTC. */
  expires_at: string
}

export interface Session {
  /** The id of this entry. */
  id: string
  /** The member that is signed in; null for a token. */
  member: {
    /** The id of this entry. */
    id: string
    /** The address of a person. */
    email: string
    /** A name for people. */
    name: string
  } | null
  /** The management token that is signed in; null for a member. */
  token: {
    /** The id of this entry. */
    id: string
    /** A name for people. */
    name: string
  } | null
  /** How the browser signed in. */
  how: "password" | "passkey" | "oidc" | "link" | "token"
  /** Browser and system in words: Firefox on Windows. */
  device: string
  address: string | null
  /** When, in UTC. */
  created_at: string | null
  /** When, in UTC. */
  last_seen_at: string | null
  /** When it ends unless it is used. */
  expires_at: string
  /** Whether this call came with it. */
  current: boolean
}

export interface Segment {
  segment_id: string
  /** For people. */
  name: string
  /** See docs/reference/segments.md. It may refer to other saved segments. */
  segment: Record<string, unknown>
  /** Rises with every change. */
  version: number
  /** When it was saved first. */
  created_at: string
  /** When it was changed last. */
  updated_at: string
}

export interface SegmentWithCampaigns extends Segment {
  /** Campaigns that use it, at most 20. Archived ones do not count. */
  campaigns: string[]
}

export interface SavedSegment extends SegmentWithCampaigns {
  result: "created" | "updated" | "unchanged"
}

export interface SegmentCount {
  /** Users that match. */
  users: number
  /** Of these, users with a device that a push reaches. */
  reachable_users: number
  /** Matching devices that a push reaches. */
  devices: number
  /** false: not all users were counted, and the numbers are lower bounds. */
  complete: boolean
  /** Why it is not complete: `too_many_users` for three seconds, `busy` while other segments of the project were counted, `segment_too_slow`, `segment_invalid`, or `missing_trigger_property`, where the size depends on a trigger. */
  reason: string | null
  /** If the time was too short: how many users were compared until then. */
  visited?: number
  /** With `visited`: about how many users the project has, if that is known. */
  about?: number
}

export interface SegmentSize {
  /** In UTC: 2026-11-16. */
  day: string
  /** Users that match. */
  users: number
  /** Of these, users with a device that a push reaches. */
  reachable_users: number
  /** Matching devices that a push reaches. */
  devices: number
  /** false: not all users were counted, and the numbers are lower bounds. */
  complete: boolean
  /** When it was counted. */
  counted_at: string
}

export interface Gateway {
  /** apns: Apple. fcm: Firebase, for Android. webpush: browsers. */
  gateway: "apns" | "fcm" | "webpush"
  /** Entries, without anything secret. */
  credentials: GatewayCredential[]
}

export interface GatewayCredential {
  /** The id of this entry. */
  id: string
  /** apns: Apple. fcm: Firebase, for Android. webpush: browsers. */
  gateway: "apns" | "fcm" | "webpush"
  /** Which of the two environments of Apple. */
  environment?: "production" | "sandbox"
  /** The bundle id it is for. */
  topic?: string
  /** The id of the key at Apple. */
  key_id?: string
  /** The team at Apple. */
  team_id?: string
  /** The id of the Firebase project. */
  firebase_project?: string
  /** The name of the service account. */
  client_email?: string
  /** The id of its key at Google. */
  private_key_id?: string
  /** Where push services can reach you. */
  subject?: string
  /** The key that browsers subscribe with (applicationServerKey). */
  public_key?: string
  /** SHA-256 of the public half of the key, to tell keys apart. */
  fingerprint: string
  /** Grows with every save. */
  version: number
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  updated_at: string
  /** The token or person that saved it last. */
  updated_by: string
  /** Its name; null if it is not known any more. */
  updated_by_name?: string | null
}

export interface GatewayCheck {
  /** apns: Apple. fcm: Firebase, for Android. webpush: browsers. */
  gateway: "apns" | "fcm" | "webpush"
  /** Whether the gateway accepts every one of them. */
  ok: boolean
  /** Entries, without anything secret. */
  credentials: {
    /** The id of this entry. */
    id: string
    /** apns: Apple. fcm: Firebase, for Android. webpush: browsers. */
    gateway: "apns" | "fcm" | "webpush"
    /** Which of the two environments of Apple. */
    environment?: "production" | "sandbox"
    /** The bundle id it is for. */
    topic?: string
    /** The id of the key at Apple. */
    key_id?: string
    /** The team at Apple. */
    team_id?: string
    /** The id of the Firebase project. */
    firebase_project?: string
    /** The name of the service account. */
    client_email?: string
    /** The id of its key at Google. */
    private_key_id?: string
    /** Where push services can reach you. */
    subject?: string
    /** The key that browsers subscribe with (applicationServerKey). */
    public_key?: string
    /** SHA-256 of the public half of the key, to tell keys apart. */
    fingerprint: string
    /** Grows with every save. */
    version: number
    /** When, in UTC. */
    created_at: string
    /** When, in UTC. */
    updated_at: string
    /** The token or person that saved it last. */
    updated_by: string
    /** Its name; null if it is not known any more. */
    updated_by_name?: string | null
    /** Whether the gateway accepts it. */
    ok: boolean
    /** The response of the gateway, in a sentence. */
    message: string
  }[]
}

export interface Webhook {
  /** The id of this entry. */
  id: string
  /** Where to call: https, at a public address. */
  url: string
  /** The events to call for. */
  events: WebhookEventType[]
  /** Whether new events are sent to it. Events from before are still sent. */
  active: boolean
  /** A note for people. null: none. */
  description: string | null
  /** When, in UTC. */
  created_at: string
  /** When, in UTC. */
  updated_at: string
}

export type WebhookEventType = "message.accepted" | "message.failed" | "message.delivered" | "message.tapped" | "trigger.completed" | "approval.requested" | "approval.decided" | "user.opted_out" | "campaign.converted"

export interface WebhookDelivery {
  /** The webhook-id that the receiver sees. */
  id: string
  /** pending: not delivered yet, retried. failed: not delivered within a day; it can be replayed. */
  state: WebhookDeliveryState
  /** The webhook or the task of the call. */
  source: {
    /** outcome or task. */
    kind: string
    /** The id of this entry. */
    id: string
  }
  /** Where to call: https, at a public address. */
  url: string
  /** How often it was tried. */
  attempts: number
  /** The HTTP status of the last response. */
  last_status: number | null
  /** Why the last attempt failed. */
  last_error: string | null
  /** When, in UTC. */
  created_at: string
  /** When the next attempt is due; null once the delivery has ended. */
  next_at: string | null
  /** When, in UTC. */
  settled_at: string | null
}

export interface WebhookDeliveryDetail extends WebhookDelivery {
  /** The body of the request, as it is sent and signed. */
  body: string
  /** When a pending delivery is given up. */
  expires_at: string | null
  /** The attempts, newest first. */
  made: WebhookAttempt[]
}

export interface WebhookAttempt {
  /** When, in UTC. */
  at: string
  duration_ms: number
  /** The HTTP status of the response; null: none arrived. */
  status: number | null
  /** Why the attempt failed; null: it did not. */
  error: string | null
  /** The headers of the request. Values that a subscriber chose are masked. */
  headers: Record<string, string>
  /** The first 2,048 bytes of the body of the response. */
  response: string | null
}

/** pending: not delivered yet, retried. failed: not delivered within a day; it can be replayed. */
export type WebhookDeliveryState = "pending" | "delivered" | "failed"

export interface Approval {
  /** The id of this entry. */
  id: string
  /** pending: it waits for a person. expired: no person decided within 24 hours. superseded: the campaign or its audience had changed, and another approval was asked for. canceled: its task was canceled. */
  state: ApprovalState
  /** The skill that the agent asked for. */
  skill: string
  /** The id of the campaign. */
  campaign_id: string | null
  campaign_name: string | null
  /** The version that was shown; only this one is sent. */
  campaign_version: number | null
  broadcast: boolean
  /** Distinct users that the action would reach when it was asked for. */
  recipients: number
  devices: number
  /** false: the numbers are lower bounds. */
  complete: boolean
  /** Number of targets and devices that would receive nothing, by reason. */
  excluded: Record<string, number>
  /** The message as some of its recipients would see it. */
  sample: {
    /** The project's own id of the user; percent-encoded where it stands in a path. */
    project_user_id: string | null
    /** The title. */
    title: string | null
    /** The text. */
    body: string | null
  }[]
  /** The action in the fields of its skill; at most 20 targets, and targetCount has the number of all. */
  command: Record<string, unknown>
  /** Why a person is asked. */
  reason: string
  /** The key that asked. */
  key: {
    /** The id of this entry. */
    id: string
    /** A name for people. */
    name: string
  }
  /** The name that the agent gave. */
  agent: string | null
  task_id: string
  /** When, in UTC. */
  requested_at: string
  /** When, in UTC. */
  expires_at: string
  /** When, in UTC. */
  decided_at: string | null
  decided_by: string | null
  /** The name of the token or person that decided. */
  decided_by_name: string | null
  note: string | null
  /** The approval that was asked for instead. */
  superseded_by: string | null
  /** Where a person decides. */
  url: string
}

/** pending: it waits for a person. expired: no person decided within 24 hours. superseded: the campaign or its audience had changed, and another approval was asked for. canceled: its task was canceled. */
export type ApprovalState = "pending" | "approved" | "rejected" | "expired" | "superseded" | "canceled"

export interface AgentTask {
  /** The id of this entry. */
  id: string
  /** The conversation that the task belongs to. */
  context_id: string
  /** The state in the spelling of the contract. */
  state: "submitted" | "working" | "completed" | "failed" | "canceled" | "rejected" | "input-required" | "auth-required"
  /** When, in UTC. */
  begun_at: string
  /** When, in UTC. */
  changed_at: string
  /** Who sent the first message. */
  asked_by: {
    /** As the audit log names it. */
    actor: string | null
    /** The name of the token or person, if it was no key. */
    actor_name: string | null
    /** The id of the key; not its text. */
    key_id: string | null
    key_name: string | null
    /** The name that the agent gave. */
    agent: string | null
  }
  /** The first message in a line. */
  request: string
  /** The skill and the fields that the messages led to; null: none so far. */
  understood: {
    skill: string | null
    fields: Record<string, unknown>
    /** A text as it was understood, in words. */
    text: string | null
  } | null
  /** What was asked, understood, shown, agreed and done, in order. */
  steps: {
    /** secret: for your backend. public: safe inside an app, and able to do less. */
    kind: "message" | "state" | "result"
    /** null for messages of the agent and for results. */
    at: string | null
    state: string | null
    /** Of a result. */
    name: string | null
    text: string | null
    data: unknown[]
  }[]
}

export interface SimulatedPhone {
  online: boolean
  /** null: it is online. */
  offline_since: string | null
  /** Whether it has the app. */
  installed: boolean
  /** null: it has the app. */
  uninstalled_at: string | null
  /** Pushes that gateways hold until it is online. */
  held: number
  /** When the newest push arrived. */
  received_at: string | null
  /** On its screen, newest first, up to 20. */
  notifications: {
    /** The id of the push in the inbox. */
    id: string
    /** The id of the message, if the payload has one. */
    message_id: string | null
    /** The title. */
    title: string | null
    /** The text. */
    body: string | null
    /** The picture. */
    image_url: string | null
    /** What a tap opens. */
    landing_url: string | null
    buttons: {
      /** The id of this entry. */
      id: string
      /** The title. */
      title: string
      /** What it opens. */
      landing_url: string | null
    }[]
    /** When it arrived on the phone. */
    received_at: string
  }[]
  /** Live Activities on its screen. */
  activities: {
    activity_id: string
    attributes_type: string
    /** Apple's id of the channel that it listens to; null: it has a token of its own. */
    channel_id: string | null
    state: Record<string, unknown>
    /** When, in UTC. */
    started_at: string
  }[]
}

export interface SimulatedDevice extends Device {
  phone: SimulatedPhone
}

export interface SimulatedPush {
  /** The id of this entry. */
  id: string
  /** When, in UTC. */
  received_at: string
  /** Where it arrived. */
  gateway: "apns" | "fcm" | "webpush"
  /** The device with the token; null if no device has it. */
  device_id: string | null
  /** Apple's id of the channel that it went to, or that the started activity listens to. */
  channel_id?: string
  /** How many simulated activities a broadcast to a channel reached. */
  activities?: number
  /** The id of the message, if the payload has one. */
  message_id: string | null
  /** The title a person would see. */
  title: string | null
  /** The text a person would see. */
  body: string | null
  /** The picture. */
  image_url: string | null
  /** What a tap opens. */
  landing_url: string | null
  /** The titles of its buttons; absent: none. */
  actions?: string[]
  /** Its buttons; absent: none. */
  buttons?: {
    /** What the app reports when it is pressed. */
    id: string
    /** The title. */
    title: string
    /** What it opens. */
    landing_url: string | null
  }[]
  /** true: nothing is shown, the app is woken. */
  silent?: boolean
  /** The request that arrived. */
  request: {
    /** The method. */
    method: string
    /** The path. */
    path: string
    /** Without credentials. */
    headers: Record<string, string>
    /** Decrypted if it was encrypted. */
    payload: unknown
  }
  /** The response of the gateway. */
  answer: {
    /** The HTTP status; 0 if there was no response. */
    status: number
    /** The reason that the gateway names. */
    reason: string | null
    /** An explanation for developers, which real gateways do not send. */
    detail: string | null
    /** The id that the gateway gave it. */
    gateway_message_id: string | null
    /** Milliseconds from the request to the response; null: there was none. */
    took_ms?: number | null
    /** The first 1,000 characters of its body. */
    body?: string
  }
}

export interface SimulatorFaults {
  /** Faults of APNs. */
  apns: {
    /** Connections are cut, old and new. */
    down: boolean
    /** Requests are read and get no response. */
    hang: boolean
    /** Delays every response by this time. */
    latency_ms: number
    /** Adds a random delay up to this time. */
    jitter_ms: number
    /** The share of pushes, 0 to 1, that is refused. */
    error_rate: number
    /** The status of those refusals. */
    error_status: number
    /** A connection gets GOAWAY with its nth request; 0: never. */
    goaway_after: number
    /** That GOAWAY names this stream as its last; those above are not processed. 0: all that arrived are. */
    goaway_last_stream: number
    /** A connection with more open requests gets GOAWAY, as from Firebase; 0: never. */
    goaway_above_streams: number
    /** A connection is cut at its nth request; 0: never. */
    drop_after: number
    /** A connection is silent from its nth request on, to PING too, and stays open; 0: never. */
    half_open_after: number
    /** A connection is broken at its nth request by headers that cannot be decoded; 0: never. */
    bad_hpack_after: number
    /** Streams that a connection may have open; 0: the limit of the gateway. */
    max_streams: number
    /** New connections get an expired certificate. */
    tls_expired: boolean
    /** The quota: further requests get 429; 0: none. */
    requests_per_second: number
  }
  /** Faults of FCM. */
  fcm: {
    /** Connections are cut, old and new. */
    down: boolean
    /** Requests are read and get no response. */
    hang: boolean
    /** Delays every response by this time. */
    latency_ms: number
    /** Adds a random delay up to this time. */
    jitter_ms: number
    /** The share of pushes, 0 to 1, that is refused. */
    error_rate: number
    /** The status of those refusals. */
    error_status: number
    /** A connection gets GOAWAY with its nth request; 0: never. */
    goaway_after: number
    /** That GOAWAY names this stream as its last; those above are not processed. 0: all that arrived are. */
    goaway_last_stream: number
    /** A connection with more open requests gets GOAWAY, as from Firebase; 0: never. */
    goaway_above_streams: number
    /** A connection is cut at its nth request; 0: never. */
    drop_after: number
    /** A connection is silent from its nth request on, to PING too, and stays open; 0: never. */
    half_open_after: number
    /** A connection is broken at its nth request by headers that cannot be decoded; 0: never. */
    bad_hpack_after: number
    /** Streams that a connection may have open; 0: the limit of the gateway. */
    max_streams: number
    /** New connections get an expired certificate. */
    tls_expired: boolean
    /** The quota: further requests get 429; 0: none. */
    requests_per_second: number
  }
  /** Faults of Web Push. */
  webpush: {
    /** Connections are cut, old and new. */
    down: boolean
    /** Requests are read and get no response. */
    hang: boolean
    /** Delays every response by this time. */
    latency_ms: number
    /** Adds a random delay up to this time. */
    jitter_ms: number
    /** The share of pushes, 0 to 1, that is refused. */
    error_rate: number
    /** The status of those refusals. */
    error_status: number
    /** A connection gets GOAWAY with its nth request; 0: never. */
    goaway_after: number
    /** That GOAWAY names this stream as its last; those above are not processed. 0: all that arrived are. */
    goaway_last_stream: number
    /** A connection with more open requests gets GOAWAY, as from Firebase; 0: never. */
    goaway_above_streams: number
    /** A connection is cut at its nth request; 0: never. */
    drop_after: number
    /** A connection is silent from its nth request on, to PING too, and stays open; 0: never. */
    half_open_after: number
    /** A connection is broken at its nth request by headers that cannot be decoded; 0: never. */
    bad_hpack_after: number
    /** Streams that a connection may have open; 0: the limit of the gateway. */
    max_streams: number
    /** New connections get an expired certificate. */
    tls_expired: boolean
    /** The quota: further requests get 429; 0: none. */
    requests_per_second: number
  }
}
