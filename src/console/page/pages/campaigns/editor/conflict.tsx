import { Alert, Badge, Button, Group, Radio, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Campaign, CampaignVersion, Page } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useProjectId } from '../../../api/session.ts'
import { authorOf } from '../../../parts/author.ts'
import { Loading } from '../../../parts/states.tsx'
import { When } from '../../../parts/texts.tsx'
import { type CampaignDraft, draftOf, withoutBlanks } from '../draft.ts'
import { type Clash, clashesOf, merged } from '../words/differences.ts'
import { labelOf } from '../words/fields.ts'
import { valueInWords } from '../words/values.ts'

interface Props {
  theirs: Campaign
  mine: CampaignDraft
  /** The version that I began with. */
  version: number | null
  resolve: (values: CampaignDraft, theirs: Campaign) => void
}

/** What someone else saved, beside what was typed here, field by field. Nothing is lost before a side is chosen. */
export function Conflict({ theirs, mine, version, resolve }: Props) {
  const projectId = useProjectId()
  const path = `/campaigns/${encodeURIComponent(theirs.campaign_id)}/versions`
  const latest = useQuery({
    queryKey: ['versions', projectId, theirs.campaign_id, theirs.version],
    queryFn: () => project<Page<CampaignVersion>>(projectId, 'GET', path, { query: { limit: 1 } })
  })
  // Without the version that both began with, every difference counts as a change of both.
  const began = useQuery({
    queryKey: ['version', projectId, theirs.campaign_id, version],
    queryFn: () => project<CampaignVersion>(projectId, 'GET', `${path}/${version}`),
    enabled: version !== null,
    retry: 1
  })
  const [saved] = latest.data?.items ?? []
  if (began.isPending && !began.error) return <Loading label="Comparing" />
  return (
    <Alert color="orange" title={`Someone else saved version ${theirs.version} while you were editing`} role="alert">
      <Stack>
        <Text size="sm">
          {saved && (
            <>
              Saved by {authorOf(saved)}, <When at={saved.created_at} />.{' '}
            </>
          )}
          Your changes are kept. Choose a side for each field, then save.
        </Text>
        <Comparison
          key={theirs.version}
          clashes={clashesOf(began.data?.campaign, withoutBlanks(mine), withoutBlanks(draftOf(theirs)))}
          mine={mine}
          apply={(taken) => resolve(merged(mine, taken), theirs)}
        />
      </Stack>
    </Alert>
  )
}

type Side = 'mine' | 'theirs'

function Comparison({
  clashes,
  mine,
  apply
}: {
  clashes: Clash[]
  mine: CampaignDraft
  apply: (taken: Clash[]) => void
}) {
  const [chosen, setChosen] = useState<Record<string, Side>>({})
  const sideOf = ({ path, changed }: Clash): Side => chosen[path] ?? (changed === 'theirs' ? 'theirs' : 'mine')
  const all = (side: Side) => setChosen(Object.fromEntries(clashes.map(({ path }) => [path, side])))
  return (
    <Stack>
      <Group>
        <Button size="xs" variant="default" onClick={() => all('mine')}>
          Keep all mine
        </Button>
        <Button size="xs" variant="default" onClick={() => all('theirs')}>
          Take all theirs
        </Button>
      </Group>
      <Table.ScrollContainer minWidth={0} type="native">
        <Table withRowBorders layout="fixed" aria-label="Differences" verticalSpacing="sm">
          <Table.Tbody>
            {clashes.map((clash) => (
              <ClashRows
                key={clash.path}
                clash={clash}
                label={labelOf(clash.path, mine)}
                side={sideOf(clash)}
                choose={(side) => setChosen({ ...chosen, [clash.path]: side })}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Button w="fit-content" onClick={() => apply(clashes.filter((clash) => sideOf(clash) === 'theirs'))}>
        Use this version
      </Button>
    </Stack>
  )
}

const changedBy: Record<Clash['changed'], string> = {
  mine: 'Changed by you',
  theirs: 'Changed by them',
  both: 'Changed by both'
}

function ClashRows({
  clash: { path, one, two, changed },
  label,
  side,
  choose
}: {
  clash: Clash
  label: string
  side: Side
  choose: (side: Side) => void
}) {
  const value = (given: unknown) => (
    <Text size="sm" dir="auto" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {valueInWords(path, given)}
    </Text>
  )
  return (
    <Table.Tr data-field={path}>
      <Table.Td>
        <Radio.Group aria-label={label} value={side} onChange={(next) => choose(next as Side)}>
          <Group gap="xs" mb={6}>
            <Text size="sm" fw={600}>
              {label}
            </Text>
            <Badge variant="light" color={changed === 'both' ? 'orange' : 'gray'}>
              {changedBy[changed]}
            </Badge>
          </Group>
          <Group align="start" grow preventGrowOverflow>
            <Radio value="mine" label="Keep mine" description={value(one)} data-side="mine" />
            <Radio value="theirs" label="Take theirs" description={value(two)} data-side="theirs" />
          </Group>
        </Radio.Group>
      </Table.Td>
    </Table.Tr>
  )
}
