import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { DocsLink } from './texts.tsx'

/** The title of a page, its purpose, its actions and its content. */
export function PageLayout({
  title,
  about,
  docs,
  actions,
  children
}: {
  title: string
  about?: ReactNode
  /** The page of the docs about it: `guides/webhooks`. */
  docs?: string
  actions?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Tidings`
  }, [title])
  return (
    <Stack gap="lg" maw={1200}>
      <Group justify="space-between" align="start">
        <div>
          <Title order={1} size="h2">
            {title}
          </Title>
          {(about || docs) && (
            <Text c="dimmed">
              {about} {docs && <DocsLink to={docs} />}
            </Text>
          )}
        </div>
        {actions && <Group>{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
