import { Anchor, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Erasure } from '../../../../wire.ts'
import { useNameOf } from '../../api/actors.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { useProjectId } from '../../api/session.ts'
import { erasureLink } from '../../parts/links.ts'
import { PagedList } from '../../parts/list.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Clip, When } from '../../parts/texts.tsx'
import { erasedInWords, nameOfTable, remainsUntil } from './words.ts'

/** The receipts of the project, newest first. Receipts name no one, so the service compares hashes to find those of a user. */
export function Erasures() {
  const projectId = useProjectId()
  const nameOf = useNameOf()
  const [typed, setTyped] = useState('')
  const [userId] = useDebouncedValue(typed, 250)
  return (
    <Stack>
      <TextInput
        label="User ID"
        placeholder="Find the receipts of a user"
        description="The whole ID. Receipts hold only a hash of it."
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        dir="auto"
        maw={360}
      />
      <PagedList
        label="Erasures"
        pages={usePagedList<Erasure>('/erasures', { project_user_id: userId })}
        keyOf={({ erasure_id }) => erasure_id}
        empty={
          userId === '' ? (
            <EmptyState title="No erasures yet">
              Administrators erase a user here or on the page of the user. Each erasure leaves a receipt.
            </EmptyState>
          ) : (
            <EmptyState title="No receipt is about this user">The ID must be exactly as it was.</EmptyState>
          )
        }
        columns={[
          {
            name: 'Erased at',
            show: ({ erasure_id, completed_at }) => (
              <Anchor component={Link} to={erasureLink(projectId, erasure_id)}>
                <When at={completed_at} />
              </Anchor>
            )
          },
          { name: 'By', show: ({ actor }) => <Clip width={200}>{nameOf(actor)}</Clip> },
          { name: 'Erased', show: erasedInWords },
          { name: 'Remains', show: (erasure) => <Remains erasure={erasure} /> }
        ]}
      />
    </Stack>
  )
}

function Remains({ erasure }: { erasure: Erasure }) {
  const until = remainsUntil(erasure)
  if (until === undefined) return 'Nothing'
  return (
    <Text size="sm">
      {[...new Set(erasure.remaining.map(({ table }) => nameOfTable(table)))].join(', ')},{' '}
      {until === null ? 'until you change it' : <>until {<When at={until} />}</>}
    </Text>
  )
}
