import { ActionIcon, Anchor, Box, Code, type CodeProps, CopyButton } from '@mantine/core'
import { type ReactNode, useSyncExternalStore } from 'react'
import { CheckIcon, CopyIcon } from './icons.tsx'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const complete = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

/** `3 min ago`, `in 2 hr`; a date for what is more than a day away. */
export function timeText(at: Date, now = new Date()): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000)
  const size = Math.abs(seconds)
  if (size < 45) return relative.format(0, 'second')
  if (size < 3_600) return relative.format(Math.round(seconds / 60), 'minute')
  if (size < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour')
  return exact.format(at)
}

let now = new Date()
const watching = new Set<() => void>()
let ticking: ReturnType<typeof setInterval> | undefined

/** One clock for all times of a page, however many a list shows. */
function watchClock(changed: () => void): () => void {
  if (watching.size === 0) {
    now = new Date()
    ticking = setInterval(() => {
      now = new Date()
      for (const each of watching) each()
    }, 30_000)
  }
  watching.add(changed)
  return () => {
    watching.delete(changed)
    if (watching.size === 0) clearInterval(ticking)
  }
}

/** Renders again every half minute, so that relative times stay true. */
const useClock = (): Date => useSyncExternalStore(watchClock, () => now)

/** A time as a distance from now. The tooltip has the exact time in the viewer's time zone, and the instant. */
export function When({ at }: { at: string | null | undefined }) {
  const seen = useClock()
  if (!at) return <span>–</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={`${complete.format(date)} · ${at}`} style={{ whiteSpace: 'nowrap' }}>
      {timeText(date, seen > date ? seen : new Date())}
    </time>
  )
}

/** An id or a text of any length and script on one line: its end is cut off, and the tooltip has all of it. */
export const Clip = ({ children, width = 260 }: { children: string; width?: number | string }) => (
  <span
    dir="auto"
    title={children}
    style={{
      display: 'inline-block',
      maxWidth: width,
      overflow: 'hidden',
      textOverflow: 'ellipsis',
      whiteSpace: 'nowrap',
      verticalAlign: 'bottom',
      unicodeBidi: 'isolate'
    }}
  >
    {children}
  </span>
)

/** A page of the docs, which the service itself serves: `guides/webhooks#retries`. */
export const DocsLink = ({ to, children = 'Docs' }: { to: string; children?: ReactNode }) => (
  <Anchor href={`/docs/${to}`} target="_blank" rel="noreferrer" size="sm">
    {children}
  </Anchor>
)

/** `1 user`, `2 users`. */
export const plural = (count: number, one: string, more = `${one}s`) =>
  `${count.toLocaleString()} ${count === 1 ? one : more}`

/** Lines of code. The block takes the focus, so that the keyboard can scroll long lines. */
export const Lines = (props: CodeProps & { children: ReactNode }) => <Code block tabIndex={0} {...props} />

/** Text to copy, with a button that copies it. */
export const CopyBlock = ({ text, label }: { text: string; label: string }) => (
  <Box pos="relative">
    <Code block aria-label={label} pr={44} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Code>
    {/* Browsers offer the clipboard only over https and on localhost. */}
    {'clipboard' in navigator && (
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <ActionIcon
            pos="absolute"
            top={6}
            right={6}
            variant="default"
            onClick={copy}
            aria-label={copied ? 'Copied' : `Copy ${label}`}
            title={copied ? 'Copied' : 'Copy'}
          >
            {copied ? <CheckIcon /> : <CopyIcon />}
          </ActionIcon>
        )}
      </CopyButton>
    )}
  </Box>
)
