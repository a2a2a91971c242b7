import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

/** The title of a page, its purpose, its actions and its content. */
export function PageLayout({
  title,
  about,
  actions,
  children
}: {
  title: string
  about?: ReactNode
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
          {about && <Text c="dimmed">{about}</Text>}
        </div>
        {actions && <Group>{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
