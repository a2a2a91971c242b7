import { Alert, Button, Center, Skeleton, Stack, Text, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/errors.ts'

/** Grey lines where a text will stand, so that the page does not jump when it arrives. */
export const Loading = ({ label = 'Loading', lines = 4 }: { label?: string; lines?: number }) => (
  <Stack role="progressbar" aria-label={label} gap="sm" py="sm">
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike.
      <Skeleton key={line} height={16} width={line === lines - 1 ? '60%' : '100%'} />
    ))}
  </Stack>
)

export function ErrorAlert({ error, retry }: { error: Error; retry?: () => unknown }) {
  const details = error instanceof ApiError ? error.details : []
  return (
    <Alert color="red" title={error.message} role="alert">
      {details.map(({ path, message }) => (
        <Text key={path + message} size="sm">
          {path}: {message}
        </Text>
      ))}
      {retry && (
        <Button mt="sm" size="xs" variant="light" color="red" onClick={() => void retry()}>
          Retry
        </Button>
      )}
    </Alert>
  )
}

export const EmptyState = ({ title, children }: { title: string; children?: ReactNode }) => (
  <Center p="xl">
    <Stack align="center" gap="xs" maw={420} ta="center">
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text c="dimmed" component="div">
        {children}
      </Text>
    </Stack>
  </Center>
)

/** The data of a query; its error, or grey lines while there is none. */
export function Loaded<Data>({
  query,
  children
}: {
  query: UseQueryResult<Data, Error>
  children: (data: Data) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <ErrorAlert error={query.error} retry={query.refetch} />
  return <Loading />
}
