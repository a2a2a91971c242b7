import { Text } from '@mantine/core'

/** An error that belongs to no single input. */
export const ErrorText = ({ text }: { text: string | undefined }) =>
  text ? (
    <Text c="var(--mantine-color-error)" size="sm" role="alert" w="100%">
      {text}
    </Text>
  ) : null
