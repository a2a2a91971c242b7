import { ActionIcon, Box, Code, type CodeProps, CopyButton, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { CheckIcon, CopyIcon } from './icons.tsx'

const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A time in the viewer's time zone. The tooltip has the exact instant. */
export const When = ({ at }: { at: string | null | undefined }) =>
  at ? (
    <time dateTime={at} title={at} style={{ whiteSpace: 'nowrap' }}>
      {short.format(new Date(at))}
    </time>
  ) : (
    <span>–</span>
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
          <Tooltip label={copied ? 'Copied' : 'Copy'}>
            <ActionIcon pos="absolute" top={6} right={6} variant="default" onClick={copy} aria-label={`Copy ${label}`}>
              {copied ? <CheckIcon /> : <CopyIcon />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    )}
  </Box>
)
