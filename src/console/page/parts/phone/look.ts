import { createContext, useContext } from 'react'
import type { Device } from '../../../../wire.ts'

export type Platform = Device['platform']
export type Scheme = 'light' | 'dark'

/** A notification as a person sees it. Texts are rendered: they hold no templates any more. */
export interface Shown {
  title?: string | null | undefined
  body?: string | null | undefined
  image_url?: string | null | undefined
  /** The texts of its buttons. */
  buttons?: string[] | undefined
}

/** How the screen around a notification looks. */
export interface Look {
  platform: Platform
  /** The name above the notification: that of the app, or of the site. */
  app: string
}

const Context = createContext<Look>({ platform: 'IOS', app: 'Your app' })
export const LookProvider = Context.Provider
export const useLook = () => useContext(Context)

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/
const letter = /\p{L}/u

/** The direction of a text, by its first letter, as phones decide it. */
export function directionOf(text: string | null | undefined): 'rtl' | 'ltr' {
  const first = letter.exec(text ?? '')?.[0]
  return first !== undefined && rightToLeft.test(first) ? 'rtl' : 'ltr'
}
