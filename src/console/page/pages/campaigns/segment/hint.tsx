import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** A warning beside a field that forbids nothing. */
export const Hint = ({ children }: { children: ReactNode }) => (
  <Text
    size="xs"
    w="100%"
    role="status"
    c="var(--mantine-color-orange-light-color)"
    style={{ overflowWrap: 'anywhere' }}
  >
    {children}
  </Text>
)
