import { Center, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

/** The frame of every page that is shown before the console. */
export function Card({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Tidings`
  }, [title])
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w={420} maw="100%">
        <Stack>
          <div>
            <Title order={1} size="h3">
              {title}
            </Title>
            {about && (
              <Text size="sm" c="dimmed" mt={4} component="div" style={{ overflowWrap: 'anywhere' }}>
                {about}
              </Text>
            )}
          </div>
          {children}
        </Stack>
      </Paper>
    </Center>
  )
}
