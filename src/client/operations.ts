// Printed from /openapi.json by `npm run docs`. Do not edit.

import type * as s from './schemas.ts'

export interface Operations {
  /** Whether the API answers */
  getHealth: {
    result: {
      /** The state, in a word. */
      msg: string
    }
  }
  /** Create a user, or change the properties of one that exists. Takes a secret key. */
  createUser: {
    body: s.NewUser
    result: s.UserProperties
  }
  /** Change some properties of a user. Takes a secret key. */
  updateUser: {
    path: {
      /** The project's own id of the user. */
      project_user_id: string
    }
    body?: {
      /** Names of 1 to 256 characters; at most 1,000 properties and 64 KiB a user. null is a value. */
      properties?: s.Properties
    }
    result: s.UserProperties
  }
  /** Delete a user and everything that belongs to it. Takes a secret key. */
  deleteUser: {
    path: {
      /** The project's own id of the user. */
      project_user_id: string
    }
    result: Record<string, never>
  }
  /** Read the properties of a user. Takes a secret key. */
  getUser: {
    path: {
      /** The project's own id of the user. */
      project_user_id: string
    }
    result: s.UserProperties
  }
  /** Remove properties of a user. Takes a secret key. */
  removeUserProperties: {
    path: {
      /** The project's own id of the user. */
      project_user_id: string
    }
    body: {
      /** Names of properties. Those that the user does not have are ignored. */
      names: string[]
    }
    result: s.UserProperties
  }
  /** Create or change up to 1,000 users. Takes a secret key. */
  saveUsers: {
    body: {
      /** As the body of POST /api/v1/users. */
      users: s.NewUser[]
    }
    result: {
      /** By position. */
      results: (s.UserProperties | {
        /** What was wrong, as a sentence. */
        error: string
        /** What was wrong, as a word for programs. */
        code: string
      })[]
    }
  }
  /** Store up to 1,000 users with their devices and push tokens. Takes a secret key. */
  importUsers: {
    body: {
      /** Each with project_user_id (absent: its devices belong to anonymous users), properties, preferences, created_at, last_seen_at, and up to 100 devices as in POST /api/v1/devices with created_at and last_seen_at. */
      users: unknown[]
    }
    result: {
      /** Users that were stored. */
      stored_users: number
      /** Devices that were stored. */
      stored_devices: number
      errors: {
        /** The position of the user in the request. */
        index: number
        /** devices[1].push_token: the rest of the user was stored. devices[1].properties: the rest too; the anonymous user of the device would exceed the limits, or has logged in. Otherwise none of it. */
        path: string
        /** What was wrong, as a sentence. */
        error: string
        /** What was wrong, as a word for programs. */
        code: string
      }[]
    }
  }
  /** Register devices, or tell what changed about them. Takes a secret or a public key. */
  registerDevices: {
    body: {
      /** One bad entry, and none is stored. */
      devices: s.DeviceRegistration[]
    }
    result: {
      /** By position, as stored. */
      devices: s.ClientDevice[]
    }
  }
  /** Delete a device, its tokens, and its user if the user is anonymous and has no other device. Takes a secret key. */
  deleteDevice: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    result: Record<string, never>
  }
  /** Log a user in on a device. Takes a secret or a public key. */
  logInUser: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    body: {
      /** Created if there is no such user. */
      project_user_id: string
    }
    result: {
      /** The id of the device. */
      device_id: string
      /** The project's own id of the user; percent-encoded where it stands in a path. */
      project_user_id: string
    }
  }
  /** Log the user out on a device. Takes a secret or a public key. */
  logOutUser: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    result: Record<string, never>
  }
  /** Set properties of the user of a device. Takes a secret or a public key. */
  setDeviceUserProperties: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    body: {
      /** Of the user the device belongs to. */
      properties: {
        /** The name of the property. */
        name: string
        /** USER_PROPERTY_TYPE_STRING, _NUMBER, _BOOLEAN or _DATETIME, with or without the beginning. Absent: as the value is. */
        type?: string | null
        /** As JSON of its type, or as text. */
        value?: string | number | boolean | null
        /** Another name for value. */
        value_string?: string | number | boolean | null
      }[]
    }
    result: {
      /** Of the user the device belongs to. */
      properties: {
        /** The name of the property. */
        name: string
        /** USER_PROPERTY_TYPE_STRING, _NUMBER, _BOOLEAN or _DATETIME, with or without the beginning. Absent: as the value is. */
        type?: string | null
        /** As JSON of its type, or as text. */
        value?: string | number | boolean | null
        /** Another name for value. */
        value_string?: string | number | boolean | null
      }[]
    }
  }
  /** Remove properties of the user of a device. Takes a secret or a public key. */
  removeDeviceUserProperties: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    query?: {
      /** A name; repeat it for more, or give a list as JSON text. */
      names?: string | string[]
      /** Names with commas between them. */
      property_names?: string | string[]
    }
    result: Record<string, never>
  }
  /** Register the token that starts Live Activities of a type. Takes a secret or a public key. */
  registerLiveActivityStartToken: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    body: {
      /** The Swift type of the attributes. */
      attributes_type: string
      /** As the system gave it to the app. */
      push_to_start_token?: string
      /** Another name for push_to_start_token. */
      push_token?: string
    }
    result: {
      /** The id of the device. */
      device_id: string
      /** The Swift type of the attributes. */
      attributes_type: string
    }
  }
  /** Register the token that updates and ends a running Live Activity. Takes a secret or a public key. */
  registerLiveActivityUpdateToken: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    body: {
      /** The Swift type of the attributes. */
      attributes_type: string
      /** The id the system gave the activity. */
      activity_id: string
      /** As the system gave it to the app. */
      push_token: string
    }
    result: {
      /** The id of the device. */
      device_id: string
      /** The Swift type of the attributes. */
      attributes_type: string
      /** The id the system gave the activity. */
      activity_id: string
    }
  }
  /** Record what users did. Takes a secret or a public key. */
  trackEvents: {
    body: {
      /** One bad entry, and none is stored. */
      events: s.NewEvent[]
    }
    result: {
      /** By position, as stored. */
      events: s.ClientEvent[]
    }
  }
  /** Read the preferences of a user. Takes a secret key. */
  getUserPreferences: {
    path: {
      /** The project's own id of the user. */
      project_user_id: string
    }
    result: s.Preferences
  }
  /** Change preferences of a user. Takes a secret key. */
  updateUserPreferences: {
    path: {
      /** The project's own id of the user. */
      project_user_id: string
    }
    body: s.PreferencesChange
    result: s.Preferences
  }
  /** Read the evidence of what a user chose. Takes a secret key. */
  getUserConsents: {
    path: {
      /** The project's own id of the user. */
      project_user_id: string
    }
    result: {
      /** The latest yes and the latest no to each topic, and to messages at all. */
      consents: s.Consent[]
    }
  }
  /** Read the preferences of the user of a device. Takes a secret or a public key. */
  getDevicePreferences: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    result: s.Preferences
  }
  /** Change preferences of the user of a device. Takes a secret or a public key. */
  updateDevicePreferences: {
    path: {
      /** The id the app gave its device. */
      device_id: string
    }
    body: s.PreferencesChange
    result: s.Preferences
  }
  /** Send push notifications now. Takes a secret key. */
  sendMessages: {
    query?: {
      /** devices: additional_params also lists each device, and whether the message was simulated. */
      expand?: string
    }
    body: {
      /** Up to 500 are recommended. One bad item, and none is sent. */
      push_notifications: s.PushNotification[]
    }
    result: s.DeliveryResults
  }
  /** Start Live Activities. Takes a secret key. */
  startLiveActivities: {
    query?: {
      /** devices: additional_params also lists each device, and whether the message was simulated. */
      expand?: string
    }
    body: {
      /** One bad item, and none is started. */
      live_activities: s.LiveActivityStart[]
    }
    result: s.DeliveryResults
  }
  /** Change running Live Activities. Takes a secret key. */
  updateLiveActivities: {
    query?: {
      /** devices: additional_params also lists each device, and whether the message was simulated. */
      expand?: string
    }
    body: {
      /** One bad item, and none is changed. */
      live_activities: s.LiveActivityChange[]
    }
    result: s.DeliveryResults
  }
  /** End Live Activities. Takes a secret key. */
  endLiveActivities: {
    query?: {
      /** devices: additional_params also lists each device, and whether the message was simulated. */
      expand?: string
    }
    body: {
      /** One bad item, and none is changed. */
      live_activities: s.LiveActivityChange[]
    }
    result: s.DeliveryResults
  }
  /** Read a message with its outcome on each device. Takes a secret key. */
  getMessage: {
    path: {
      /** The id of the message. */
      message_id: string
    }
    result: s.Message
  }
  /** Cancel a message that waits for its send_at. Takes a secret key. */
  cancelMessage: {
    path: {
      /** The id that messages:send returned. */
      message_id: string
    }
    result: s.Message
  }
  /** List messages, one entry for each device, newest first. Takes a secret key. */
  listMessages: {
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Of this user. */
      project_user_id?: string
      /** To this device. */
      device_id?: string
      /** Of this trigger. */
      trigger_id?: string
      /** Of this campaign. */
      campaign_id?: string
      /** SUCCEED, FAILED or PENDING. A filtered page may hold fewer entries than its limit; go on while next_cursor is set. */
      status?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.MessageEntry[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Create a broadcast channel for Live Activities. Takes a secret key. */
  createLiveActivityChannel: {
    body: {
      /** The Swift type of the attributes of its activities. */
      attributes_type: string
      /** The bundle id. Default: that of the only APNs credential of the environment. */
      app?: string | null
      /** production (the default) or sandbox. */
      push_environment?: string | null
      /** Whether Apple keeps the newest change for phones that are offline or come later. */
      storage: "none" | "most_recent"
    }
    result: s.LiveActivityChannel
  }
  /** List broadcast channels of Live Activities. Takes a secret key. */
  listLiveActivityChannels: {
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.LiveActivityChannel[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a channel with its newest change. Takes a secret key. */
  getLiveActivityChannel: {
    path: {
      /** The id of the channel in this service. */
      channel_id: string
    }
    result: s.LiveActivityChannelWithChange
  }
  /** Delete a channel, here and at Apple. Takes a secret key. */
  deleteLiveActivityChannel: {
    path: {
      /** The id of the channel in this service. */
      channel_id: string
    }
    result: Record<string, never>
  }
  /** Change all Live Activities of a channel, by one request to Apple. Takes a secret key. */
  updateLiveActivityChannel: {
    path: {
      /** The id of the channel in this service. */
      channel_id: string
    }
    query?: {
      /** devices: additional_params also lists each device, and whether the message was simulated. */
      expand?: string
    }
    body: s.LiveActivityChannelChange
    result: s.DeliveryResults
  }
  /** End all Live Activities of a channel, by one request to Apple. Takes a secret key. */
  endLiveActivityChannel: {
    path: {
      /** The id of the channel in this service. */
      channel_id: string
    }
    query?: {
      /** devices: additional_params also lists each device, and whether the message was simulated. */
      expand?: string
    }
    body: s.LiveActivityChannelChange
    result: s.DeliveryResults
  }
  /** Trigger a campaign. Takes a secret key. */
  triggerCampaign: {
    path: {
      /** The id of the campaign. */
      campaign_id: string
    }
    body?: s.TriggerRequest
    result: {
      /** The id of the trigger. */
      trigger_id: string
    }
  }
  /** List triggers. Takes a secret key. */
  listTriggers: {
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Only triggers of this campaign. */
      campaign_id?: string
      /** scheduled: it waits for its send_at. The last three are final: no message is pending. */
      state?: s.TriggerState
      /** Only triggers accepted since then: a date or a time in ISO 8601, in UTC unless it has an offset. */
      accepted_after?: string
      /** Only triggers accepted before then. */
      accepted_before?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Trigger[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a trigger. Takes a secret key. */
  getTrigger: {
    path: {
      /** The id that the trigger request returned. */
      trigger_id: string
    }
    result: s.Trigger
  }
  /** Move a scheduled trigger to another time. Takes a secret key. */
  rescheduleTrigger: {
    path: {
      /** The id that the trigger request returned. */
      trigger_id: string
    }
    body: {
      /** RFC 3339, at most 90 days ahead. A past time sends it now. */
      send_at: string
    }
    result: s.Trigger
  }
  /** Cancel a trigger: after the response no further message is dispatched. Takes a secret key. */
  cancelTrigger: {
    path: {
      /** The id that the trigger request returned. */
      trigger_id: string
    }
    result: s.Trigger
  }
  /** Explain why a user received the message of a trigger, or why not. Takes a secret key. */
  explainTrigger: {
    path: {
      /** The id that the trigger request returned. */
      trigger_id: string
    }
    query: {
      /** The user. */
      project_user_id: string
    }
    result: s.Explanation
  }
  /** Watch a trigger: a server-sent event with the trigger whenever it changes, until it has ended. Takes a secret key. */
  streamTrigger: {
    path: {
      /** The id that the trigger request returned. */
      trigger_id: string
    }
    result: string
  }
  /** Preview a trigger: its audience and a rendered sample, without sending anything. Takes a secret key. */
  previewCampaign: {
    path: {
      /** The id of the campaign. */
      campaign_id: string
    }
    body?: s.TriggerRequest
    result: s.CampaignPreview
  }
  /** List campaigns. Takes a secret key. */
  listCampaigns: {
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** The state, in a word. */
      status?: s.CampaignStatus
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.CampaignSummary[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read the state and the version of a campaign. Takes a secret key. */
  getCampaign: {
    path: {
      /** The id of the campaign. */
      campaign_id: string
    }
    result: s.CampaignSummary
  }
  /** Read what came of a campaign: a funnel in all, over time and by group. Takes a secret key. */
  getCampaignStats: {
    path: {
      /** The id of the campaign. */
      campaign_id: string
    }
    query?: {
      /** A date or a time in ISO 8601, in UTC unless it has an offset; rounded down to the interval. Default: 30 days, or 48 hours, before to. */
      from?: string
      /** The end, rounded up to the interval. Default: now. */
      to?: string
      /** The length of each point of the series. Default: day. */
      interval?: "hour" | "day"
      /** The groups. */
      by?: "variant" | "language" | "step"
      /** csv: a table, as with Accept: text/csv. */
      format?: "json" | "csv"
    }
    result: s.CampaignStats
  }
  /** Read what came of everything that the project sent: in all, over time, by campaign and directly. Takes a secret key. */
  getProjectStats: {
    query?: {
      /** A date or a time in ISO 8601, in UTC unless it has an offset; rounded down to the interval. Default: 30 days, or 48 hours, before to. */
      from?: string
      /** The end, rounded up to the interval. Default: now. */
      to?: string
      /** The length of each point of the series. Default: day. */
      interval?: "hour" | "day"
      /** csv: a table, as with Accept: text/csv. */
      format?: "json" | "csv"
    }
    result: s.ProjectStats
  }
  /** Read the key that browsers subscribe with. Takes a secret or a public key. */
  getWebPushPublicKey: {
    result: {
      /** The applicationServerKey of subscriptions: a P-256 point in base64url. */
      public_key: string
      /** true: the project sends to simulated browsers only. */
      simulated: boolean
    }
  }
  /** Create a project. Takes a token of the whole installation with the role admin. */
  createProject: {
    body: {
      /** The id of this entry. */
      id?: string
      /** A name for people. */
      name: string
      /** Whether messages go to the built-in simulator or to real gateways. */
      mode?: "simulator" | "live"
      /** The plan, which sets the campaign triggers per second. */
      plan?: string
      /** Requests and triggers per second. 0: no limit. */
      limits?: {
        /** 0: no limit. null: what the plan or the default says. */
        requests_per_second?: number | null
        /** 0: no limit. null: what the plan or the default says. */
        client_requests_per_second?: number | null
        /** 0: no limit. null: what the plan or the default says. */
        triggers_per_second?: number | null
      }
      /** How long history is kept. */
      retention?: {
        /** null: what the plan or the default says. */
        events_days?: number | null
        /** null: what the plan or the default says. */
        messages_days?: number | null
      }
    }
    result: s.Project
  }
  /** List the projects that the caller can see. Takes a token with the role viewer or higher. */
  listProjects: {
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Project[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a project. Takes a token with the role viewer or higher. */
  getProject: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: s.Project
  }
  /** Change a project. Its plan and limits need a token for the whole installation. Takes a token with the role admin. */
  updateProject: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      /** A name for people. */
      name?: string
      /** Whether messages go to the built-in simulator or to real gateways. */
      mode?: "simulator" | "live"
      /** The plan, which sets the campaign triggers per second. */
      plan?: string
      /** Requests and triggers per second. 0: no limit. */
      limits?: {
        /** 0: no limit. null: what the plan or the default says. */
        requests_per_second?: number | null
        /** 0: no limit. null: what the plan or the default says. */
        client_requests_per_second?: number | null
        /** 0: no limit. null: what the plan or the default says. */
        triggers_per_second?: number | null
      }
      /** How long history is kept. */
      retention?: {
        /** null: what the plan or the default says. */
        events_days?: number | null
        /** null: what the plan or the default says. */
        messages_days?: number | null
      }
      /** The most messages to one user, over all campaigns or those of a topic. Transactional messages pass. null: none. */
      message_limits?: s.MessageLimit[] | null
      /** Over all campaigns, beside a campaign's own. Transactional messages pass. null: none. */
      quiet_hours?: {
        /** Local time, 22:00. */
        from: string
        /** Local time; on the next day if it is before from. */
        to: string
        /** device, user (the property timezone, else the device, else UTC) or an IANA name. */
        timezone?: string
        /** skip: the message is not sent. hold: it is sent when the quiet hours are over. */
        action?: "skip" | "hold"
      } | null
      /** true: apps prove who their user is, by the header X-Service-User-Token. */
      identity_verification?: boolean
      /** true: analytics SDKs may send to /v1, with a public key as their write key. */
      intake?: boolean
    }
    result: s.Project
  }
  /** Delete a project with everything in it. Takes a token of the whole installation with the role admin. */
  deleteProject: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: Record<string, never>
  }
  /** Make the secret with which your backend signs the tokens of users; it is only in this answer, and the previous one works until the overlap ends. Takes a token with the role admin. */
  rotateProjectIdentitySecret: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body?: {
      /** How long the old one still works: 15m, 24h, 7d, or 0s to stop it at once; at most 30d. Default: 24h. */
      overlap?: string | null
    }
    result: s.IdentitySecret
  }
  /** Pause a project: nothing is sent, and new messages wait. Takes a token with the role editor or higher. */
  pauseProject: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: s.Project
  }
  /** Resume a project: waiting messages are sent. Takes a token with the role editor or higher. */
  resumeProject: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: s.Project
  }
  /** Create a key; only this response contains its text. Takes a token with the role admin. */
  createProjectKey: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      /** secret: for your backend. public: safe inside an app, and able to do less. */
      kind: s.KeyKind
      /** A name for people. */
      name: string
      /** When the key stops working: RFC 3339 with Z or an offset, in the future. Default: never. */
      expires_at?: string | null
      /** What an agent may do with a secret key, with the fields that the response shows. A field that is left out sets no limit; null: no policy. */
      policy?: Record<string, unknown> | null
    }
    result: s.CreatedKey
  }
  /** List keys, without their texts. Takes a token with the role admin. */
  listProjectKeys: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Key[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Change the policy of a secret key and of its rotations: what an agent may do with it; every node applies it within a second. Takes a token with the role admin. */
  updateProjectKey: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the key; not its text. */
      key_id: string
    }
    body: {
      /** What an agent may do with a secret key, with the fields that the response shows. A field that is left out keeps its value, and null takes its limit away; null: no policy. */
      policy?: Record<string, unknown> | null
    }
    result: s.Key
  }
  /** Revoke a key. Takes a token with the role admin. */
  deleteProjectKey: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the key; not its text. */
      key_id: string
    }
    result: Record<string, never>
  }
  /** Replace a key: returns a new one, and the old one works until the overlap ends. Takes a token with the role admin. */
  rotateProjectKey: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the key; not its text. */
      key_id: string
    }
    body?: {
      /** How long the old one still works: 15m, 24h, 7d, or 0s to stop it at once; at most 30d. Default: 24h. */
      overlap?: string | null
      /** When the key stops working: RFC 3339 with Z or an offset, in the future. Default: never. */
      expires_at?: string | null
    }
    result: s.RotatedKey
  }
  /** List the changes in a project, with who made them. Takes a token with the role admin. */
  listProjectAudit: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Only entries of this time or later (RFC 3339). */
      from?: string
      /** Only entries before this time (RFC 3339). */
      to?: string
      /** Only changes of this author, as `actor` names it. */
      actor?: string
      /** Only actions that begin with this, such as `campaign`. */
      action?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.AuditEntry[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** List sign-ins and changes of the whole installation: members, tokens and projects, with who made them. Takes a token of the whole installation with the role admin. */
  listInstallationAudit: {
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Only entries of this time or later (RFC 3339). */
      from?: string
      /** Only entries before this time (RFC 3339). */
      to?: string
      /** Only changes of this author, as `actor` names it. */
      actor?: string
      /** Only actions that begin with this, such as `campaign`. */
      action?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.AuditEntry[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** List who has changed something in a project, by name; at most 200. Takes a token with the role admin. */
  listProjectActors: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Actor[]
    }
  }
  /** List who is in the audit log of the installation, by name; at most 200. Takes a token of the whole installation with the role admin. */
  listInstallationActors: {
    result: {
      /** The entries of this page, newest first. */
      items: s.Actor[]
    }
  }
  /** Create a management token; only this response contains its text. Takes a token with the role admin. */
  createToken: {
    body: {
      /** A name for people. */
      name: string
      /** admin may do everything, editor changes content, viewer reads. */
      role: s.Role
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id?: string
    }
    result: s.CreatedToken
  }
  /** List management tokens, without their texts. Takes a token with the role admin. */
  listTokens: {
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Token[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Revoke a management token. Takes a token with the role admin. */
  deleteToken: {
    path: {
      /** The id of the token; not its text. */
      token_id: string
    }
    result: Record<string, never>
  }
  /** Create a link that signs a browser in to the console with the rights of this token, once, within 15 minutes. Takes a token with the role viewer or higher. */
  createSignInLink: {
    result: {
      /** Below the address of the service. The code follows the #. */
      path: string
      /** When, in UTC. */
      expires_at: string
    }
  }
  /** List the nodes on this database; with hosts and pids for editors and admins of the whole installation. Takes a token with the role viewer or higher. */
  listNodes: {
    result: {
      /** The entries of this page, newest first. */
      items: s.Node[]
      /** The installation was restored from a backup and is paused until `tidings resume`. */
      paused: {
        /** When the backup was restored. */
        since: string
        /** The moment of the backup. */
        backup_made_at: string
        /** What is being canceled now, by `tidings resume --discard`; null: nothing. */
        discarding: "due" | "all" | null
      } | null
    }
  }
  /** Invite a person to the installation or to a project; only this response contains the link. Takes a token with the role admin. */
  createMember: {
    body: {
      /** The address of the person. Nothing is sent to it. */
      email: string
      /** admin may do everything, editor changes content, viewer reads. */
      role: s.Role
      /** The project; left out or null: the whole installation. */
      project_id?: string | null
    }
    result: s.InvitedMember
  }
  /** List members and invitations; an item for each role of a person. Takes a token with the role admin. */
  listMembers: {
    query?: {
      /** Only members of this project. */
      project_id?: string
      /** Only this person, with all roles that you may see. */
      member_id?: string
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Member[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Change the role of a member in the installation or in a project; it counts at once. Takes a token with the role admin. */
  updateMember: {
    path: {
      /** The id of the member: a person. */
      member_id: string
    }
    body: {
      /** admin may do everything, editor changes content, viewer reads. */
      role: s.Role
      /** The project; left out or null: the whole installation. */
      project_id?: string | null
    }
    result: s.Member
  }
  /** Remove a member from everything that you administer, or from one project, and end all its sessions. Takes a token with the role admin. */
  deleteMember: {
    path: {
      /** The id of the member: a person. */
      member_id: string
    }
    query?: {
      /** Only from this project. */
      project_id?: string
      /** true: only the role in the whole installation; roles in projects stay. */
      installation?: boolean
    }
    result: Record<string, never>
  }
  /** Make a link with which a member sets a new password; only this response contains it. Takes a token with the role admin. */
  resetMember: {
    path: {
      /** The id of the member: a person. */
      member_id: string
    }
    result: s.MemberLink
  }
  /** List your own sessions; an admin also lists those of others. Takes a token with the role viewer or higher. */
  listSessions: {
    query?: {
      /** Those of this member, whom you administer. */
      member_id?: string
      /** true: those of everyone whom you administer. */
      all?: boolean
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Session[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** End all your sessions but the one that calls; an admin also ends all those of a member. Takes a token with the role viewer or higher. */
  deleteSessions: {
    query?: {
      /** Those of this member, whom you administer. */
      member_id?: string
    }
    result: {
      /** How many sessions ended. */
      ended: number
    }
  }
  /** End a session of yours, or of someone whom you administer. Takes a token with the role viewer or higher. */
  deleteSession: {
    path: {
      /** The id of the session. */
      session_id: string
    }
    result: Record<string, never>
  }
  /** List dead jobs: those that failed too often. Takes a token of the whole installation with the role admin. */
  listDeadJobs: {
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.DeadJob[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Run a dead job again. Takes a token of the whole installation with the role admin. */
  reviveDeadJob: {
    path: {
      /** The id of the job. */
      job_id: string
    }
    result: Record<string, never>
  }
  /** Count what waits in a restored installation, before it is resumed. Takes a token of the whole installation with the role admin. */
  getInstallationWaiting: {
    result: {
      /** Triggers that were accepted, under way or scheduled. */
      triggers: {
        /** Due by now. */
        due: number
        /** Due later. */
        later: number
      }
      /** Messages of direct sends, and of triggers that were under way. */
      messages: {
        /** Due by now. */
        due: number
        /** Due later. */
        later: number
      }
      /** Users who wait for the next message of a campaign. */
      journeys: {
        /** Due by now. */
        due: number
        /** Due later. */
        later: number
      }
      /** Schedules of campaigns that missed an occurrence. */
      schedules: {
        /** Due by now. */
        due: number
        /** Due later. */
        later: number
      }
      /** Events that no campaign has reacted to yet. */
      events: {
        /** Due by now. */
        due: number
        /** Due later. */
        later: number
      }
      /** Updates and ends of Live Activity channels. */
      channel_updates: {
        /** Due by now. */
        due: number
        /** Due later. */
        later: number
      }
      /** Tasks of agents whose skill was running. */
      agent_tasks: {
        /** Due by now. */
        due: number
        /** Due later. */
        later: number
      }
    }
  }
  /** Resume a restored installation. What waited is sent, or canceled first: what was due by now (`due`), or everything (`all`). Takes a token of the whole installation with the role admin. */
  resumeInstallation: {
    body?: {
      /** What is canceled. `none` also ends a discard that is under way. Default: nothing. */
      discard?: "none" | "due" | "all"
    }
    result: {
      /** It stays paused until everything that waited is canceled. */
      discarding: boolean
    }
  }
  /** List or search users. Takes a token with the role viewer or higher. */
  listProjectUsers: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Part of the project_user_id, or the whole service id. A page may hold fewer entries than its limit; go on while next_cursor is set. */
      search?: string
      /** Up to 5 properties and the values that the users have, as JSON: {"plan":"premium","age":31}. At once for an indexed property, in parts for others: go on while next_cursor is set. */
      where?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.User[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
      /** How many users this page was searched in, if no index named them. */
      searched?: number
      /** About how many users the project has, while a search is not complete. */
      about?: number
    }
  }
  /** Create a user whose id is new. Takes a token with the role editor or higher. */
  createProjectUser: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: s.NewUser
    result: s.User
  }
  /** Set and remove properties of a user, unless others have changed them. Takes a token with the role editor or higher. */
  updateProjectUser: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The project's own id of the user. */
      project_user_id: string
    }
    body: {
      /** Names of 1 to 256 characters; at most 1,000 properties and 64 KiB a user. null is a value. */
      set?: s.Properties
      /** Names. Absent ones are ignored. */
      remove?: string[]
      /** The values from which the change starts. If a property of `set` or `remove` has another value now, or one that is not here exists, the response is 409 and nothing changes. */
      before?: s.Properties
    }
    result: s.User
  }
  /** Read a user. Takes a token with the role viewer or higher. */
  getProjectUser: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The project's own id of the user. */
      project_user_id: string
    }
    result: s.User
  }
  /** Stream all users, one JSON object a line. Takes a token with the role admin. */
  exportProjectUsers: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: string
  }
  /** Create or change users from a stream, one JSON object a line. Takes a token with the role editor or higher. */
  importProjectUsers: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: string
    result: s.UserImport
  }
  /** Export everything about a user. Takes a token with the role admin. */
  exportUser: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The project's own id of the user. */
      project_user_id: string
    }
    result: {
      /** When, in UTC. */
      exported_at: string
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** Ids, properties and times. */
      user: unknown
      /** The opt-out, and every topic. */
      preferences: unknown
      /** The evidence of choices: the latest yes and the latest no of each. */
      consents: unknown[]
      /** Facts about each device, and its tokens in full. */
      devices: unknown[]
      /** Newest first. */
      events: unknown[]
      /** Newest first, with their outcomes on each device. */
      messages: unknown[]
      /** Campaigns with steps that the user entered. */
      journeys: unknown[]
      /** Messages that an event of the user is credited to. */
      conversions: unknown[]
      /** Triggers that passed the user over, and why. */
      skips: unknown[]
    }
  }
  /** Erase a user and every copy of its data, and return a receipt. Takes a token with the role admin. */
  eraseUser: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      /** The project's own id of the user. */
      project_user_id: string
    }
    result: s.Erasure
  }
  /** List receipts of erasures, newest first. Takes a token with the role viewer or higher. */
  listErasures: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Only receipts about this user. */
      project_user_id?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Erasure[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read the receipt of an erasure. Takes a token with the role viewer or higher. */
  getErasure: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the erasure. */
      erasure_id: string
    }
    result: s.Erasure
  }
  /** Check that a receipt is genuine, and whether it is about a user. Takes a token with the role viewer or higher. */
  verifyErasure: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      receipt: s.Erasure
      /** Is the receipt about this user? */
      project_user_id?: string
    }
    result: {
      /** Whether this project issued the receipt, and it is unchanged. */
      valid: boolean
      /** null if no user was named. */
      same_user: boolean | null
    }
  }
  /** List the indexed properties of users. Takes a token with the role viewer or higher. */
  listProjectIndexedProperties: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.IndexedProperty[]
    }
  }
  /** Index a property of users, of which a project has at most 10. Takes a token with the role admin. */
  indexProjectProperty: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The name of the property. */
      name: string
    }
    result: {
      /** A name for people. */
      name: string
    }
  }
  /** Stop indexing a property of users. Takes a token with the role admin. */
  unindexProjectProperty: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The name of the property. */
      name: string
    }
    result: Record<string, never>
  }
  /** List devices, of all users or of one. Takes a token with the role viewer or higher. */
  listProjectDevices: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** The project's own id of the user. */
      project_user_id?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Device[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a device. Takes a token with the role viewer or higher. */
  getProjectDevice: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the device. */
      device_id: string
    }
    result: s.Device
  }
  /** List events, of all users or of one. Takes a token with the role viewer or higher. */
  listProjectEvents: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** The project's own id of the user. */
      project_user_id?: string
      /** The id of the device. */
      device_id?: string
      /** The name, exactly. A filtered page may hold fewer entries than its limit; go on while next_cursor is set. */
      name?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Event[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** List the gateway credentials of a project, without their secrets. Takes a token with the role viewer or higher. */
  listProjectGateways: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.GatewayCredential[]
    }
  }
  /** Read the credentials of a gateway, without their secrets. Takes a token with the role viewer or higher. */
  getProjectGateway: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** apns, fcm or webpush. */
      gateway: string
    }
    result: s.Gateway
  }
  /** Save a credential of a gateway; it is tried by signing with it once, and never shown again. Takes a token with the role admin. */
  saveProjectGateway: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** apns, fcm or webpush. */
      gateway: string
    }
    body: {
      /** APNs: the text of AuthKey_….p8. */
      key?: string
      /** APNs: the 10 characters in the name of that file. */
      key_id?: string
      /** APNs: the 10 characters of the team. */
      team_id?: string
      /** APNs: the bundle id of the app. */
      topic?: string
      /** APNs: what the key is for: production, sandbox or both. Both, unless given. */
      environment?: string
      /** FCM: the file of the service account, as an object or as its text. */
      service_account?: unknown
      /** Web Push: mailto: or https:, where push services can reach you. */
      subject?: string
      /** Web Push: of a pair you have already. Without one, the pair in use stays or one is made. */
      public_key?: string
      /** Web Push: of the same pair. */
      private_key?: string
    }
    result: s.Gateway
  }
  /** Remove the credentials of a gateway, all of them or those of an environment or topic. Takes a token with the role admin. */
  deleteProjectGateway: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** apns, fcm or webpush. */
      gateway: string
    }
    query?: {
      /** APNs: production or sandbox. */
      environment?: string
      /** APNs: the bundle id. */
      topic?: string
    }
    result: Record<string, never>
  }
  /** Ask the gateway whether it accepts the credentials; nothing is delivered. Takes a token with the role admin. */
  checkProjectGateway: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** apns, fcm or webpush. */
      gateway: string
    }
    result: s.GatewayCheck
  }
  /** List messages, one entry for each device, newest first. Takes a token with the role viewer or higher. */
  listProjectMessages: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Of this user. */
      project_user_id?: string
      /** To this device. */
      device_id?: string
      /** Of this trigger. */
      trigger_id?: string
      /** Of this campaign. */
      campaign_id?: string
      /** SUCCEED, FAILED or PENDING. A filtered page may hold fewer entries than its limit; go on while next_cursor is set. */
      status?: string
      /** Only entries of this time or later (RFC 3339). */
      from?: string
      /** Only entries before this time (RFC 3339). */
      to?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.MessageEntry[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Count how messages ended in each of the last minutes. Takes a token with the role viewer or higher. */
  countProjectMessagesByMinute: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** How many minutes; 60 by default. */
      last?: number
    }
    result: {
      /** Oldest first, each minute. */
      items: s.MessageMinute[]
    }
  }
  /** Read the pushes at the simulated gateways, or follow them as server-sent events. Takes a token with the role viewer or higher. */
  listProjectSimulatorInbox: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Only pushes to this device. */
      device_id?: string
      /** Only pushes of this message. A stream takes no such filter. */
      message_id?: string
      /** true: a stream also has an event `phones` when phones have changed. */
      phones?: boolean
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.SimulatedPush[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Empty the inbox. Takes a token with the role editor or higher. */
  emptyProjectSimulatorInbox: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: Record<string, never>
  }
  /** Read one push at a simulated gateway: the request, the response and its time. Takes a token with the role viewer or higher. */
  getProjectSimulatorPush: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the push in the inbox. */
      item_id: string
    }
    result: s.SimulatedPush
  }
  /** Read the faults of the simulated gateways. Takes a token with the role viewer or higher. */
  getProjectSimulatorFaults: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: s.SimulatorFaults
  }
  /** Change faults of the simulated gateways; the others stay. Takes a token with the role editor or higher. */
  changeProjectSimulatorFaults: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      /** Faults of APNs. */
      apns?: unknown
      /** Faults of FCM. */
      fcm?: unknown
      /** Faults of Web Push. */
      webpush?: unknown
      /** Of all gateways. */
      all?: unknown
    }
    result: s.SimulatorFaults
  }
  /** Reset all faults. Takes a token with the role editor or higher. */
  resetProjectSimulatorFaults: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: s.SimulatorFaults
  }
  /** Register a simulated phone or browser. Takes a token with the role editor or higher. */
  createProjectSimulatorDevice: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      /** What kind of device it is. */
      platform: s.Platform
      /** Generated by default. */
      device_id?: string
      /** Its user. Default: none, or the user it already has. */
      project_user_id?: string
      /** How every push to it fails, as in a token: 410, slow:1500, flaky:2. */
      fault?: string
      /** Live Activities that its app can start. iOS only; default: DeliveryActivityAttributes. */
      attributes_types?: string[]
    }
    result: s.Device
  }
  /** List simulated phones with their screens. Takes a token with the role viewer or higher. */
  listProjectSimulatorDevices: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** A part of the id of the device or of its user, among the newest 10,000 devices. */
      search?: string
      /** Only devices of this user. */
      project_user_id?: string
      /** What kind of device it is. */
      platform?: s.Platform
      /** reachable: a push would arrive now. denied: pushes are not allowed. unreachable: no token, or a dead one. */
      state?: "reachable" | "offline" | "denied" | "uninstalled" | "unreachable"
      /** true: only devices that something was sent to, the latest first, on one page. */
      recent?: boolean
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.SimulatedDevice[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a simulated phone with its screen. Takes a token with the role viewer or higher. */
  getProjectSimulatorDevice: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the device. */
      device_id: string
    }
    result: s.SimulatedDevice
  }
  /** Take a simulated phone offline or online, allow or deny pushes, uninstall or reinstall its app. Takes a token with the role editor or higher. */
  updateProjectSimulatorDevice: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the device. */
      device_id: string
    }
    body: {
      /** false: gateways hold pushes for it, as the real ones do, until it is online. */
      online?: boolean
      /** Whether its app may show pushes. The device is registered again with it. */
      push_permission?: boolean
      /** false: gateways refuse its tokens from now on. true: the app registers with new tokens. */
      installed?: boolean
    }
    result: s.SimulatedDevice
  }
  /** Remove a simulated phone: its device, its tokens and its screen. Takes a token with the role editor or higher. */
  deleteProjectSimulatorDevice: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the device. */
      device_id: string
    }
    result: Record<string, never>
  }
  /** Tap a notification on a simulated phone, or press one of its buttons; the app reports it. Takes a token with the role editor or higher. */
  tapProjectSimulatorPush: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the push in the inbox. */
      item_id: string
    }
    body: {
      /** The id of the button that is pressed. Absent: the text. */
      action?: string
    }
    result: {
      /** What the tap opens. */
      landing_url: string | null
      /** The message that the app reports as tapped. */
      message_id: string | null
    }
  }
  /** Dismiss a notification on a simulated phone. Takes a token with the role editor or higher. */
  dismissProjectSimulatorPush: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the push in the inbox. */
      item_id: string
    }
    result: Record<string, never>
  }
  /** List topics. Takes a token with the role viewer or higher. */
  listProjectTopics: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Topic[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a topic. Takes a token with the role viewer or higher. */
  getProjectTopic: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the topic: a to z, digits, _ and -. */
      topic: string
    }
    result: s.Topic
  }
  /** Create or replace a topic; choices that users have made for it stay. Takes a token with the role editor or higher. */
  saveProjectTopic: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the topic: a to z, digits, _ and -. */
      topic: string
    }
    body: {
      /** As users read it. */
      name: string
      /** What the messages of this topic are about. */
      description?: string
      /** For users who have made no choice. */
      default?: "subscribed" | "unsubscribed"
    }
    result: s.Topic
  }
  /** Delete a topic that neither a campaign nor a limit of the project uses. Takes a token with the role editor or higher. */
  deleteProjectTopic: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the topic: a to z, digits, _ and -. */
      topic: string
    }
    result: Record<string, never>
  }
  /** List saved segments. Takes a token with the role viewer or higher. */
  listProjectSegments: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Segment[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Create or replace a saved segment; campaigns that use it get a new version. Takes a token with the role editor or higher. */
  saveProjectSegment: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the saved segment, 1 to 255 characters of your choice. */
      segment_id: string
    }
    body: {
      /** For people. */
      name: string
      /** See docs/reference/segments.md. It may refer to other saved segments. */
      segment: Record<string, unknown>
    }
    result: s.SavedSegment
  }
  /** Read a saved segment. Takes a token with the role viewer or higher. */
  getProjectSegment: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the saved segment, 1 to 255 characters of your choice. */
      segment_id: string
    }
    result: s.SegmentWithCampaigns
  }
  /** Delete a saved segment; refused while a campaign or another saved segment uses it. Takes a token with the role editor or higher. */
  deleteProjectSegment: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the saved segment, 1 to 255 characters of your choice. */
      segment_id: string
    }
    result: Record<string, never>
  }
  /** List the daily sizes of a saved segment, the newest first. Takes a token with the role viewer or higher. */
  listProjectSegmentSizes: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the saved segment, 1 to 255 characters of your choice. */
      segment_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.SegmentSize[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Count a segment that is not saved, for up to three seconds. Takes a token with the role viewer or higher. */
  countProjectSegmentDraft: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      /** See docs/reference/segments.md. It may refer to other saved segments. */
      segment: Record<string, unknown>
    }
    result: s.SegmentCount
  }
  /** Count a saved segment now, for up to three seconds. Takes a token with the role viewer or higher. */
  countProjectSegment: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the saved segment, 1 to 255 characters of your choice. */
      segment_id: string
    }
    result: s.SegmentCount
  }
  /** Create a campaign. Takes a token with the role editor or higher. */
  createProjectCampaign: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: s.NewCampaign
    result: s.SavedCampaign
  }
  /** List campaigns. Takes a token with the role viewer or higher. */
  listProjectCampaigns: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** The state, in a word. */
      status?: s.CampaignStatus
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Campaign[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a campaign. Takes a token with the role viewer or higher. */
  getProjectCampaign: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    result: s.Campaign
  }
  /** Create or replace a campaign. Takes a token with the role editor or higher. */
  saveProjectCampaign: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    body: s.NewCampaign
    result: s.SavedCampaign
  }
  /** Archive a campaign: it can no longer be triggered, and its versions remain. Takes a token with the role editor or higher. */
  archiveProjectCampaign: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    result: s.SavedCampaign
  }
  /** List the versions of a campaign. Takes a token with the role viewer or higher. */
  listProjectCampaignVersions: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.CampaignVersion[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a version of a campaign. Takes a token with the role viewer or higher. */
  getProjectCampaignVersion: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
      /** The number of the version. */
      version: string
    }
    result: s.CampaignVersion
  }
  /** Read the totals of a campaign, over all its triggers, including deleted ones. Takes a token with the role viewer or higher. */
  getProjectCampaignCounts: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    result: s.CampaignTotals
  }
  /** Preview a trigger of a campaign that is not saved, without sending anything. Takes a token with the role editor or higher. */
  previewProjectCampaignDraft: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      /** A campaign, as in a campaign file. */
      campaign: s.NewCampaign
      /** The recipients. Absent or null: the campaign's default audience. Without targets: no recipients. */
      audience?: {
        /** true: everyone in the campaign's segment; targets are ignored. */
        broadcast?: boolean | null
        /** At most 20,000, each with exactly one of project_user_id, device_id and user_id, and with properties of its own if it needs some. Targets outside the segment receive nothing. */
        targets?: s.TriggerTarget[]
      } | null
      /** For templates and conditions, as {{ trigger.name }}. Any JSON, at most 1 MiB. */
      properties?: Record<string, unknown> | null
      /** When it is sent: RFC 3339, at most 90 days ahead. Users, devices and segment are looked up then. Absent, null or past: at once. */
      send_at?: string | null
      /** Only for keys whose policy wants broadcasts to be confirmed: the id of a preview of the same request. Other keys get a warning for it. */
      confirmation_id?: unknown
    }
    result: s.CampaignPreview
  }
  /** Send a test of a campaign to chosen devices now, regardless of its segment, status and limits. Takes a token with the role editor or higher. */
  testProjectCampaign: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    body: {
      /** The step that is sent. Absent: the first. */
      step?: string
      /** The variant that is sent. Absent: that of each user. */
      variant?: string
      /** The language that is sent. Absent: that of each device. */
      language?: string
      /** 1 to 20 devices. */
      device_ids: string[]
      /** As in a trigger: {{ trigger.name }}. */
      properties?: Record<string, unknown>
    }
    result: {
      /** One for each device, as in messages:send. */
      delivery_results: Record<string, unknown>[]
    }
  }
  /** Choose the variant that all recipients of a campaign get from now on. Takes a token with the role editor or higher. */
  chooseProjectCampaignWinner: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    body: {
      /** The id of the variant; null: no winner any longer. */
      variant: string | null
      /** The step that has these variants, in a campaign with steps. */
      step?: string | null
    }
    result: {
      winners: s.CampaignWinner[]
    }
  }
  /** Export the texts of a campaign for translators, as CSV or XLIFF. Takes a token with the role viewer or higher. */
  exportProjectCampaignTexts: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    query?: {
      /** csv (default) or xliff: XLIFF 1.2. */
      format?: "csv" | "xliff"
      /** Further languages to translate into: fr,pt-BR. */
      languages?: string
    }
    result: string
  }
  /** Import translations of a campaign: a file that was exported, with more texts in it. Takes a token with the role editor or higher. */
  importProjectCampaignTexts: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    query?: {
      /** csv (default) or xliff: XLIFF 1.2. */
      format?: "csv" | "xliff"
    }
    body: string
    result: {
      /** updated, or unchanged if no text is new. */
      result: string
      /** The version of the campaign now. */
      version: number
      /** Texts that are new. */
      changed: number
      /** As when the campaign is saved. */
      warnings: string[]
    }
  }
  /** List the properties that users, devices or events have, with types and frequent values, from a sample. Takes a token with the role viewer or higher. */
  listProjectProperties: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Users, the default, or devices with the attributes that segments know. */
      of?: "user" | "device"
      /** Instead: the properties of events of this name. */
      event?: string
    }
    result: {
      /** The most frequent first; at most 500. */
      items: {
        /** A name for people. */
        name: string
        /** The types of its values. Only events have objects and arrays. */
        types: ("string" | "number" | "boolean" | "null" | "object" | "array")[]
        /** The share of the sample that has it, from 0 to 1. */
        share: number
        /** Up to ten values, the most frequent first. */
        examples: unknown[]
      }[]
      /** How many were looked at. */
      sampled: number
      /** Whether these are all there are. Otherwise rare names may be missing. */
      complete: boolean
    }
  }
  /** List the names of events, from a sample. Takes a token with the role viewer or higher. */
  listProjectEventNames: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: {
      /** The most frequent first; at most 500. */
      items: {
        /** A name for people. */
        name: string
        /** The share of the sample with this name, from 0 to 1. */
        share: number
      }[]
      /** How many were looked at. */
      sampled: number
      /** Whether these are all there are. Otherwise rare names may be missing. */
      complete: boolean
    }
  }
  /** List triggers. Takes a token with the role viewer or higher. */
  listProjectTriggers: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Only triggers of this campaign. */
      campaign_id?: string
      /** scheduled: it waits for its send_at. The last three are final: no message is pending. */
      state?: s.TriggerState
      /** Only triggers accepted since then: a date or a time in ISO 8601, in UTC unless it has an offset. */
      accepted_after?: string
      /** Only triggers accepted before then. */
      accepted_before?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.AuthoredTrigger[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a trigger, with who made it. Takes a token with the role viewer or higher. */
  getProjectTrigger: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the trigger. */
      trigger_id: string
    }
    result: s.AuthoredTrigger
  }
  /** Count the audience of a trigger, for up to three seconds: counts.targeted grows while it is sent. Takes a token with the role viewer or higher. */
  getProjectTriggerSize: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the trigger. */
      trigger_id: string
    }
    result: s.TriggerSize
  }
  /** Watch a trigger: an event with all counters whenever they change, until it has ended. Takes a token with the role viewer or higher. */
  streamProjectTrigger: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the trigger. */
      trigger_id: string
    }
    result: string
  }
  /** List the campaigns with steps, a delay or a limit of reentry that a user entered. Takes a token with the role viewer or higher. */
  listProjectUserJourneys: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The project's own id of the user. */
      project_user_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Journey[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Count the users on their way through a campaign. Takes a token with the role viewer or higher. */
  countProjectCampaignJourneys: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the campaign. */
      campaign_id: string
    }
    result: s.CampaignJourneys
  }
  /** List tasks of agents with who asked and what was done; newest first. Takes a token with the role viewer or higher. */
  listProjectAgentTasks: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** The state in the spelling of the contract. */
      state?: "submitted" | "working" | "completed" | "failed" | "canceled" | "rejected" | "input-required" | "auth-required"
      /** Only tasks of this conversation. */
      context_id?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.AgentTask[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Export the records of all tasks of agents, one to a line; newest first. Takes a token with the role admin. */
  exportProjectAgentTasks: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    result: string
  }
  /** Read the record of a task. Takes a token with the role viewer or higher. */
  getProjectAgentTask: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the task. */
      task_id: string
    }
    result: s.AgentTask
  }
  /** List calls to webhooks, of outcomes and of tasks. Takes a token with the role editor or higher. */
  listProjectWebhookDeliveries: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** Only entries of this time or later (RFC 3339). */
      from?: string
      /** Only entries before this time (RFC 3339). */
      to?: string
      /** pending: not delivered yet, retried. failed: not delivered within a day; it can be replayed. */
      state?: s.WebhookDeliveryState
      /** Only calls to this webhook. */
      webhook_id?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.WebhookDelivery[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a call to a webhook: its body, and each attempt with its response. Takes a token with the role editor or higher. */
  getProjectWebhookDelivery: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the delivery. */
      delivery_id: string
    }
    result: s.WebhookDeliveryDetail
  }
  /** Make a call again, from its first attempt. Takes a token with the role editor or higher. */
  replayProjectWebhookDelivery: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the call, which its receiver sees as webhook-id. */
      delivery_id: string
    }
    result: s.WebhookDelivery
  }
  /** Make failed calls again, oldest first and at most 1,000 at a time. Takes a token with the role editor or higher. */
  replayFailedProjectWebhookDeliveries: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body?: {
      /** Only calls that were created at this time or later. The default is a day ago. */
      since?: string
      /** Only calls to this webhook. */
      webhook_id?: string
    }
    result: {
      /** How many are made again. At 1,000 there may be more. */
      replayed: number
    }
  }
  /** Create a webhook; its secret is only in this answer. Takes a token with the role admin. */
  createProjectWebhook: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body: {
      /** Where to call: https, at a public address. */
      url: string
      /** The events to call for. */
      events: s.WebhookEventType[]
      /** Whether new events are sent to it. Events from before are still sent. */
      active?: boolean
      /** A note for people. null: none. */
      description?: string | null
    }
    result: {
      /** The id of this entry. */
      id: string
      /** Where to call: https, at a public address. */
      url: string
      /** The events to call for. */
      events: s.WebhookEventType[]
      /** Whether new events are sent to it. Events from before are still sent. */
      active: boolean
      /** A note for people. null: none. */
      description: string | null
      /** When, in UTC. */
      created_at: string
      /** When, in UTC. */
      updated_at: string
      /** Signs the calls (Standard Webhooks). It is shown this once. */
      secret: string
    }
  }
  /** List webhooks. Takes a token with the role editor or higher. */
  listProjectWebhooks: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Webhook[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read a webhook. Takes a token with the role editor or higher. */
  getProjectWebhook: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the webhook. */
      webhook_id: string
    }
    result: s.Webhook
  }
  /** Change a webhook. Takes a token with the role admin. */
  updateProjectWebhook: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the webhook. */
      webhook_id: string
    }
    body: {
      /** Where to call: https, at a public address. */
      url?: string
      /** The events to call for. */
      events?: s.WebhookEventType[]
      /** Whether new events are sent to it. Events from before are still sent. */
      active?: boolean
      /** A note for people. null: none. */
      description?: string | null
    }
    result: s.Webhook
  }
  /** Delete a webhook, with what waits for it. Takes a token with the role admin. */
  deleteProjectWebhook: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the webhook. */
      webhook_id: string
    }
    result: Record<string, never>
  }
  /** Give a webhook a new secret; the old one signs beside it until the overlap ends. Takes a token with the role admin. */
  rotateProjectWebhookSecret: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the webhook. */
      webhook_id: string
    }
    body?: {
      /** How long the old secret still signs: 15m, 24h, 7d; at most 30d. 0s, for one that leaked, ends all earlier secrets at once. Default: 24h. */
      overlap?: string | null
    }
    result: {
      /** Signs the calls (Standard Webhooks). It is shown this once. */
      secret: string
    }
  }
  /** Call a webhook once, with an event that says it is a test, and return its response. Takes a token with the role editor or higher. */
  testProjectWebhook: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the webhook. */
      webhook_id: string
    }
    result: {
      /** The id of the call, which its receiver sees as webhook-id. */
      delivery_id: string
      delivery: s.WebhookDeliveryDetail
    }
  }
  /** Give the project a new secret, which signs the calls about tasks; the old one signs beside it until the overlap ends. Takes a token with the role admin. */
  rotateProjectTaskSecret: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    body?: {
      /** How long the old secret still signs: 15m, 24h, 7d; at most 30d. 0s, for one that leaked, ends all earlier secrets at once. Default: 24h. */
      overlap?: string | null
    }
    result: {
      /** Signs the calls (Standard Webhooks). It is shown this once. */
      secret: string
    }
  }
  /** List the actions of agents that wait for a person, and those that were decided; newest first. Takes a token with the role viewer or higher. */
  listProjectApprovals: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
    }
    query?: {
      /** Entries in one answer. */
      limit?: number
      /** next_cursor of the answer before. */
      cursor?: string
      /** pending: it waits for a person. expired: no person decided within 24 hours. superseded: the campaign or its audience had changed, and another approval was asked for. canceled: its task was canceled. */
      state?: s.ApprovalState
      /** Only approvals that this task asked for. */
      task_id?: string
    }
    result: {
      /** The entries of this page, newest first. */
      items: s.Approval[]
      /** Send it as cursor for the next page; null on the last. */
      next_cursor: string | null
    }
  }
  /** Read an approval. Takes a token with the role viewer or higher. */
  getProjectApproval: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the approval. */
      approval_id: string
    }
    result: s.Approval
  }
  /** Approve an action: it is done now, within what was shown; where that has changed, it is asked for anew. Takes a token with the role editor or higher. */
  approveProjectApproval: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the approval. */
      approval_id: string
    }
    body?: {
      /** Why. The agent reads it. */
      note?: string | null
    }
    result: s.Approval
  }
  /** Reject an action; the agent reads the note. Takes a token with the role editor or higher. */
  rejectProjectApproval: {
    path: {
      /** The id of the project: 1 to 64 letters, digits, _ or -. */
      project_id: string
      /** The id of the approval. */
      approval_id: string
    }
    body?: {
      /** Why. The agent reads it. */
      note?: string | null
    }
    result: s.Approval
  }
}

/** The method and the path of each operation, and whether it takes an idempotency key. */
export const operations: Record<keyof Operations, readonly [method: string, path: string, keyed?: 'keyed']> = {
  getHealth: ['GET', '/api/v1/health'],
  createUser: ['POST', '/api/v1/users'],
  updateUser: ['PATCH', '/api/v1/users/{project_user_id}'],
  deleteUser: ['DELETE', '/api/v1/users/{project_user_id}'],
  getUser: ['GET', '/api/v1/users/{project_user_id}'],
  removeUserProperties: ['POST', '/api/v1/users/{project_user_id}/properties:remove'],
  saveUsers: ['POST', '/api/v1/users:batch'],
  importUsers: ['POST', '/api/v1/users:import'],
  registerDevices: ['POST', '/api/v1/devices'],
  deleteDevice: ['DELETE', '/api/v1/devices/{device_id}'],
  logInUser: ['POST', '/api/v1/devices/{device_id}/user/project-user-id'],
  logOutUser: ['DELETE', '/api/v1/devices/{device_id}/user/project-user-id'],
  setDeviceUserProperties: ['POST', '/api/v1/devices/{device_id}/user/properties'],
  removeDeviceUserProperties: ['DELETE', '/api/v1/devices/{device_id}/user/properties'],
  registerLiveActivityStartToken: ['POST', '/api/v1/devices/{device_id}/live-activity-start-tokens'],
  registerLiveActivityUpdateToken: ['POST', '/api/v1/devices/{device_id}/live-activity-update-tokens'],
  trackEvents: ['POST', '/api/v1/events'],
  getUserPreferences: ['GET', '/api/v1/users/{project_user_id}/preferences'],
  updateUserPreferences: ['PATCH', '/api/v1/users/{project_user_id}/preferences'],
  getUserConsents: ['GET', '/api/v1/users/{project_user_id}/consents'],
  getDevicePreferences: ['GET', '/api/v1/devices/{device_id}/preferences'],
  updateDevicePreferences: ['PATCH', '/api/v1/devices/{device_id}/preferences'],
  sendMessages: ['POST', '/api/v1/messages:send', 'keyed'],
  startLiveActivities: ['POST', '/api/v1/live-activities:start', 'keyed'],
  updateLiveActivities: ['POST', '/api/v1/live-activities:update', 'keyed'],
  endLiveActivities: ['POST', '/api/v1/live-activities:end', 'keyed'],
  getMessage: ['GET', '/api/v1/messages/{message_id}'],
  cancelMessage: ['POST', '/api/v1/messages/{message_id}:cancel'],
  listMessages: ['GET', '/api/v1/messages'],
  createLiveActivityChannel: ['POST', '/api/v1/live-activity-channels', 'keyed'],
  listLiveActivityChannels: ['GET', '/api/v1/live-activity-channels'],
  getLiveActivityChannel: ['GET', '/api/v1/live-activity-channels/{channel_id}'],
  deleteLiveActivityChannel: ['DELETE', '/api/v1/live-activity-channels/{channel_id}'],
  updateLiveActivityChannel: ['POST', '/api/v1/live-activity-channels/{channel_id}:update', 'keyed'],
  endLiveActivityChannel: ['POST', '/api/v1/live-activity-channels/{channel_id}:end', 'keyed'],
  triggerCampaign: ['POST', '/api/v1/campaigns/{campaign_id}:trigger', 'keyed'],
  listTriggers: ['GET', '/api/v1/triggers'],
  getTrigger: ['GET', '/api/v1/triggers/{trigger_id}'],
  rescheduleTrigger: ['PATCH', '/api/v1/triggers/{trigger_id}', 'keyed'],
  cancelTrigger: ['POST', '/api/v1/triggers/{trigger_id}:cancel'],
  explainTrigger: ['GET', '/api/v1/triggers/{trigger_id}/explain'],
  streamTrigger: ['GET', '/api/v1/triggers/{trigger_id}/stream'],
  previewCampaign: ['POST', '/api/v1/campaigns/{campaign_id}:preview'],
  listCampaigns: ['GET', '/api/v1/campaigns'],
  getCampaign: ['GET', '/api/v1/campaigns/{campaign_id}'],
  getCampaignStats: ['GET', '/api/v1/campaigns/{campaign_id}/stats'],
  getProjectStats: ['GET', '/api/v1/stats'],
  getWebPushPublicKey: ['GET', '/api/v1/web-push/public-key'],
  createProject: ['POST', '/manage/v1/projects'],
  listProjects: ['GET', '/manage/v1/projects'],
  getProject: ['GET', '/manage/v1/projects/{project_id}'],
  updateProject: ['PATCH', '/manage/v1/projects/{project_id}'],
  deleteProject: ['DELETE', '/manage/v1/projects/{project_id}'],
  rotateProjectIdentitySecret: ['POST', '/manage/v1/projects/{project_id}/identity-secret:rotate'],
  pauseProject: ['POST', '/manage/v1/projects/{project_id}:pause'],
  resumeProject: ['POST', '/manage/v1/projects/{project_id}:resume'],
  createProjectKey: ['POST', '/manage/v1/projects/{project_id}/keys'],
  listProjectKeys: ['GET', '/manage/v1/projects/{project_id}/keys'],
  updateProjectKey: ['PATCH', '/manage/v1/projects/{project_id}/keys/{key_id}'],
  deleteProjectKey: ['DELETE', '/manage/v1/projects/{project_id}/keys/{key_id}'],
  rotateProjectKey: ['POST', '/manage/v1/projects/{project_id}/keys/{key_id}:rotate'],
  listProjectAudit: ['GET', '/manage/v1/projects/{project_id}/audit'],
  listInstallationAudit: ['GET', '/manage/v1/audit'],
  listProjectActors: ['GET', '/manage/v1/projects/{project_id}/actors'],
  listInstallationActors: ['GET', '/manage/v1/actors'],
  createToken: ['POST', '/manage/v1/tokens'],
  listTokens: ['GET', '/manage/v1/tokens'],
  deleteToken: ['DELETE', '/manage/v1/tokens/{token_id}'],
  createSignInLink: ['POST', '/manage/v1/sign-in-links'],
  listNodes: ['GET', '/manage/v1/nodes'],
  createMember: ['POST', '/manage/v1/members'],
  listMembers: ['GET', '/manage/v1/members'],
  updateMember: ['PATCH', '/manage/v1/members/{member_id}'],
  deleteMember: ['DELETE', '/manage/v1/members/{member_id}'],
  resetMember: ['POST', '/manage/v1/members/{member_id}:reset'],
  listSessions: ['GET', '/manage/v1/sessions'],
  deleteSessions: ['DELETE', '/manage/v1/sessions'],
  deleteSession: ['DELETE', '/manage/v1/sessions/{session_id}'],
  listDeadJobs: ['GET', '/manage/v1/dead-jobs'],
  reviveDeadJob: ['POST', '/manage/v1/dead-jobs/{job_id}:revive'],
  getInstallationWaiting: ['GET', '/manage/v1/installation/waiting'],
  resumeInstallation: ['POST', '/manage/v1/installation:resume'],
  listProjectUsers: ['GET', '/manage/v1/projects/{project_id}/users'],
  createProjectUser: ['POST', '/manage/v1/projects/{project_id}/users'],
  updateProjectUser: ['PATCH', '/manage/v1/projects/{project_id}/users/{project_user_id}'],
  getProjectUser: ['GET', '/manage/v1/projects/{project_id}/users/{project_user_id}'],
  exportProjectUsers: ['GET', '/manage/v1/projects/{project_id}/users:export'],
  importProjectUsers: ['POST', '/manage/v1/projects/{project_id}/users:import'],
  exportUser: ['GET', '/manage/v1/projects/{project_id}/users/{project_user_id}/export'],
  eraseUser: ['POST', '/manage/v1/projects/{project_id}/erasures'],
  listErasures: ['GET', '/manage/v1/projects/{project_id}/erasures'],
  getErasure: ['GET', '/manage/v1/projects/{project_id}/erasures/{erasure_id}'],
  verifyErasure: ['POST', '/manage/v1/projects/{project_id}/erasures:verify'],
  listProjectIndexedProperties: ['GET', '/manage/v1/projects/{project_id}/indexed-properties'],
  indexProjectProperty: ['PUT', '/manage/v1/projects/{project_id}/indexed-properties/{name}'],
  unindexProjectProperty: ['DELETE', '/manage/v1/projects/{project_id}/indexed-properties/{name}'],
  listProjectDevices: ['GET', '/manage/v1/projects/{project_id}/devices'],
  getProjectDevice: ['GET', '/manage/v1/projects/{project_id}/devices/{device_id}'],
  listProjectEvents: ['GET', '/manage/v1/projects/{project_id}/events'],
  listProjectGateways: ['GET', '/manage/v1/projects/{project_id}/gateways'],
  getProjectGateway: ['GET', '/manage/v1/projects/{project_id}/gateways/{gateway}'],
  saveProjectGateway: ['PUT', '/manage/v1/projects/{project_id}/gateways/{gateway}'],
  deleteProjectGateway: ['DELETE', '/manage/v1/projects/{project_id}/gateways/{gateway}'],
  checkProjectGateway: ['POST', '/manage/v1/projects/{project_id}/gateways/{gateway}:check'],
  listProjectMessages: ['GET', '/manage/v1/projects/{project_id}/messages'],
  countProjectMessagesByMinute: ['GET', '/manage/v1/projects/{project_id}/messages:minutes'],
  listProjectSimulatorInbox: ['GET', '/manage/v1/projects/{project_id}/simulator/inbox'],
  emptyProjectSimulatorInbox: ['DELETE', '/manage/v1/projects/{project_id}/simulator/inbox'],
  getProjectSimulatorPush: ['GET', '/manage/v1/projects/{project_id}/simulator/inbox/{item_id}'],
  getProjectSimulatorFaults: ['GET', '/manage/v1/projects/{project_id}/simulator/faults'],
  changeProjectSimulatorFaults: ['PUT', '/manage/v1/projects/{project_id}/simulator/faults'],
  resetProjectSimulatorFaults: ['DELETE', '/manage/v1/projects/{project_id}/simulator/faults'],
  createProjectSimulatorDevice: ['POST', '/manage/v1/projects/{project_id}/simulator/devices'],
  listProjectSimulatorDevices: ['GET', '/manage/v1/projects/{project_id}/simulator/devices'],
  getProjectSimulatorDevice: ['GET', '/manage/v1/projects/{project_id}/simulator/devices/{device_id}'],
  updateProjectSimulatorDevice: ['PATCH', '/manage/v1/projects/{project_id}/simulator/devices/{device_id}'],
  deleteProjectSimulatorDevice: ['DELETE', '/manage/v1/projects/{project_id}/simulator/devices/{device_id}'],
  tapProjectSimulatorPush: ['POST', '/manage/v1/projects/{project_id}/simulator/inbox/{item_id}:tap'],
  dismissProjectSimulatorPush: ['POST', '/manage/v1/projects/{project_id}/simulator/inbox/{item_id}:dismiss'],
  listProjectTopics: ['GET', '/manage/v1/projects/{project_id}/topics'],
  getProjectTopic: ['GET', '/manage/v1/projects/{project_id}/topics/{topic}'],
  saveProjectTopic: ['PUT', '/manage/v1/projects/{project_id}/topics/{topic}'],
  deleteProjectTopic: ['DELETE', '/manage/v1/projects/{project_id}/topics/{topic}'],
  listProjectSegments: ['GET', '/manage/v1/projects/{project_id}/segments'],
  saveProjectSegment: ['PUT', '/manage/v1/projects/{project_id}/segments/{segment_id}'],
  getProjectSegment: ['GET', '/manage/v1/projects/{project_id}/segments/{segment_id}'],
  deleteProjectSegment: ['DELETE', '/manage/v1/projects/{project_id}/segments/{segment_id}'],
  listProjectSegmentSizes: ['GET', '/manage/v1/projects/{project_id}/segments/{segment_id}/sizes'],
  countProjectSegmentDraft: ['POST', '/manage/v1/projects/{project_id}/segments:count'],
  countProjectSegment: ['POST', '/manage/v1/projects/{project_id}/segments/{segment_id}:count'],
  createProjectCampaign: ['POST', '/manage/v1/projects/{project_id}/campaigns'],
  listProjectCampaigns: ['GET', '/manage/v1/projects/{project_id}/campaigns'],
  getProjectCampaign: ['GET', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}'],
  saveProjectCampaign: ['PUT', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}'],
  archiveProjectCampaign: ['DELETE', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}'],
  listProjectCampaignVersions: ['GET', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}/versions'],
  getProjectCampaignVersion: ['GET', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}/versions/{version}'],
  getProjectCampaignCounts: ['GET', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}/counts'],
  previewProjectCampaignDraft: ['POST', '/manage/v1/projects/{project_id}/campaigns:preview'],
  testProjectCampaign: ['POST', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}:test'],
  chooseProjectCampaignWinner: ['POST', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}:choose-winner'],
  exportProjectCampaignTexts: ['GET', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}/texts'],
  importProjectCampaignTexts: ['PUT', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}/texts'],
  listProjectProperties: ['GET', '/manage/v1/projects/{project_id}/properties'],
  listProjectEventNames: ['GET', '/manage/v1/projects/{project_id}/event-names'],
  listProjectTriggers: ['GET', '/manage/v1/projects/{project_id}/triggers'],
  getProjectTrigger: ['GET', '/manage/v1/projects/{project_id}/triggers/{trigger_id}'],
  getProjectTriggerSize: ['GET', '/manage/v1/projects/{project_id}/triggers/{trigger_id}/size'],
  streamProjectTrigger: ['GET', '/manage/v1/projects/{project_id}/triggers/{trigger_id}/stream'],
  listProjectUserJourneys: ['GET', '/manage/v1/projects/{project_id}/users/{project_user_id}/journeys'],
  countProjectCampaignJourneys: ['GET', '/manage/v1/projects/{project_id}/campaigns/{campaign_id}/journeys'],
  listProjectAgentTasks: ['GET', '/manage/v1/projects/{project_id}/agent-tasks'],
  exportProjectAgentTasks: ['GET', '/manage/v1/projects/{project_id}/agent-tasks:export'],
  getProjectAgentTask: ['GET', '/manage/v1/projects/{project_id}/agent-tasks/{task_id}'],
  listProjectWebhookDeliveries: ['GET', '/manage/v1/projects/{project_id}/webhook-deliveries'],
  getProjectWebhookDelivery: ['GET', '/manage/v1/projects/{project_id}/webhook-deliveries/{delivery_id}'],
  replayProjectWebhookDelivery: ['POST', '/manage/v1/projects/{project_id}/webhook-deliveries/{delivery_id}:replay'],
  replayFailedProjectWebhookDeliveries: ['POST', '/manage/v1/projects/{project_id}/webhook-deliveries:replay-failed'],
  createProjectWebhook: ['POST', '/manage/v1/projects/{project_id}/webhooks'],
  listProjectWebhooks: ['GET', '/manage/v1/projects/{project_id}/webhooks'],
  getProjectWebhook: ['GET', '/manage/v1/projects/{project_id}/webhooks/{webhook_id}'],
  updateProjectWebhook: ['PATCH', '/manage/v1/projects/{project_id}/webhooks/{webhook_id}'],
  deleteProjectWebhook: ['DELETE', '/manage/v1/projects/{project_id}/webhooks/{webhook_id}'],
  rotateProjectWebhookSecret: ['POST', '/manage/v1/projects/{project_id}/webhooks/{webhook_id}:rotate-secret'],
  testProjectWebhook: ['POST', '/manage/v1/projects/{project_id}/webhooks/{webhook_id}:test'],
  rotateProjectTaskSecret: ['POST', '/manage/v1/projects/{project_id}/webhook-secret:rotate'],
  listProjectApprovals: ['GET', '/manage/v1/projects/{project_id}/approvals'],
  getProjectApproval: ['GET', '/manage/v1/projects/{project_id}/approvals/{approval_id}'],
  approveProjectApproval: ['POST', '/manage/v1/projects/{project_id}/approvals/{approval_id}:approve'],
  rejectProjectApproval: ['POST', '/manage/v1/projects/{project_id}/approvals/{approval_id}:reject']
}
