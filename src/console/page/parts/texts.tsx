import { ActionIcon, Box, Code, type CodeProps, CopyButton, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** In the viewer's own zone; the exact instant is the tooltip. */
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

/** Lines of code; what is wider than the page is reached by the keys too. */
export const Lines = (props: CodeProps & { children: ReactNode }) => <Code block tabIndex={0} {...props} />

const sheets = 'M9 9h11v11H9zM5 15H4V4h11v1'
const tick = 'M4 12l6 6L20 6'

/** A command to paste, with the button that copies it. */
export const CopyBlock = ({ text, label }: { text: string; label: string }) => (
  <Box pos="relative">
    <Code block aria-label={label} pr={44} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Code>
    {/* Browsers let a page copy by https, or on this machine, alone. */}
    {'clipboard' in navigator && (
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : 'Copy'}>
            <ActionIcon pos="absolute" top={6} right={6} variant="default" onClick={copy} aria-label={`Copy ${label}`}>
              <Icon path={copied ? tick : sheets} />
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    )}
  </Box>
)
