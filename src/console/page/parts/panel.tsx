import { Paper, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** A framed section of a page. Its title is also its name for screen readers. */
export function Panel({ title, children, ...space }: { title: string; children: ReactNode; mt?: 'md'; mb?: 'md' }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title} {...space}>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {children}
    </Paper>
  )
}
