/**
 * The preview of a trigger, as it reads in JSON. The command line and the page of the console read it. It imports nothing,
 * so that a browser can have its types.
 */

/** What a trigger would do, without doing it. */
export interface Preview {
  audience: {
    users: number
    devices: number
    /** false: there was no time to look at everyone, and there are at least so many. */
    complete: boolean
    /** Why nobody, or not everyone, was found. */
    reason: string | null
    skipped: Record<string, number>
  }
  sample: {
    project_user_id: string | null
    device_id: string
    platform: 'IOS' | 'ANDROID' | 'WEB'
    /** Why it would not be sent; null where it would. */
    reason: string | null
    content: {
      notification?: { title?: string; body?: string; imageUrl?: string; landingUrl?: string }
      activity?: { attributesType: string; contentState: object }
    } | null
    payload_bytes: number | null
  }[]
  /** Fields of the request that a trigger ignores, as `unknown field "recipients"`. */
  warnings: string[]
}
