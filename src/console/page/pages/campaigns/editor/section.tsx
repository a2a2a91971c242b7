import { Group, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** A part of a step, with its heading. */
export const Section = ({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) => (
  <Stack component="section" aria-label={title} gap="sm">
    <Group justify="space-between" align="baseline">
      <Title order={3} size="h5">
        {title}
      </Title>
      {about}
    </Group>
    {children}
  </Stack>
)
