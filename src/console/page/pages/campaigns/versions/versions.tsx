import { Accordion, Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import type { Campaign, CampaignVersion } from '../../../../../wire.ts'
import { usePagedList } from '../../../api/paged-list.ts'
import { useHasRole } from '../../../api/session.ts'
import { authorOf } from '../../../parts/author.ts'
import { ErrorAlert, Loading } from '../../../parts/states.tsx'
import { Lines, When } from '../../../parts/texts.tsx'
import { type CampaignDraft, draftOf } from '../draft.ts'
import { useReplace } from '../editor/save-campaign.ts'
import { differencesOf } from '../words/differences.ts'
import { labelOf } from '../words/fields.ts'
import { valueInWords } from '../words/values.ts'
import { compareLines, linesOf } from './lines.ts'

/** Each version with its difference to the one before, in words or as JSON. Any of them can be made the newest again. */
export function CampaignVersions({ campaign }: { campaign: Campaign }) {
  const pages = usePagedList<CampaignVersion>(`/campaigns/${encodeURIComponent(campaign.campaign_id)}/versions`)
  const [form, setForm] = useState('words')
  if (pages.error) return <ErrorAlert error={pages.error} retry={pages.refetch} />
  if (!pages.data) return <Loading />
  const versions = pages.data.pages.flatMap(({ items }) => items)
  return (
    <Stack maw={800}>
      <SegmentedControl
        aria-label="Show differences"
        w="fit-content"
        size="xs"
        value={form}
        onChange={setForm}
        data={[
          { value: 'words', label: 'In words' },
          { value: 'json', label: 'As JSON' }
        ]}
      />
      <Accordion variant="separated">
        {versions.map((each, index) => (
          <Accordion.Item key={each.version} value={String(each.version)}>
            <Accordion.Control>
              <Group>
                <Text fw={600}>Version {each.version}</Text>
                <Text size="sm" c="dimmed">
                  <When at={each.created_at} /> by {authorOf(each)}
                </Text>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <Stack>
                <Difference form={form} before={versions[index + 1]?.campaign} now={each.campaign} />
                {each.version !== campaign.version && <Restore campaign={campaign} version={each} />}
              </Stack>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      {pages.hasNextPage && (
        <Button
          variant="default"
          w="fit-content"
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          Load more
        </Button>
      )}
    </Stack>
  )
}

/** Makes the content of a version the newest. The status stays: bringing a text back must not start or stop a campaign. */
function Restore({
  campaign,
  version: { version, campaign: content }
}: {
  campaign: Campaign
  version: CampaignVersion
}) {
  const canEdit = useHasRole('editor')
  const replace = useReplace(campaign)
  if (!canEdit) return null
  const draft = draftOf({ ...content, status: campaign.status, campaign_id: campaign.campaign_id } as Campaign)
  return (
    <>
      <Button
        variant="light"
        size="xs"
        w="fit-content"
        loading={replace.isPending}
        onClick={() =>
          replace.mutate({
            draft: draft as CampaignDraft,
            said: (now) => `Version ${version} restored as version ${now}.`
          })
        }
      >
        Restore version {version}
      </Button>
      {replace.error && <ErrorAlert error={replace.error} />}
    </>
  )
}

function Difference({ form, before, now }: { form: string; before: object | undefined; now: object }) {
  if (!before)
    return form === 'words' ? <Text size="sm">The first version.</Text> : <JsonDifference before={before} now={now} />
  return form === 'words' ? <FieldDifference before={before} now={now} /> : <JsonDifference before={before} now={now} />
}

/** The changed fields, by the labels of the editor. */
function FieldDifference({ before, now }: { before: object; now: object }) {
  const differences = differencesOf(before, now)
  if (differences.length === 0) return <Text size="sm">Nothing but the saved segments that it refers to.</Text>
  const cell = (path: string, value: unknown, background: string) => (
    <Table.Td style={{ background, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} dir="auto">
      {valueInWords(path, value)}
    </Table.Td>
  )
  return (
    <Table layout="fixed" aria-label="Changed fields">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="30%">Field</Table.Th>
          <Table.Th>Before</Table.Th>
          <Table.Th>After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {differences.map(({ path, one, two }) => (
          <Table.Tr key={path}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{labelOf(path, now)}</Table.Td>
            {cell(path, one, shades['-'])}
            {cell(path, two, shades['+'])}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

const shades = {
  ' ': undefined,
  '+': 'var(--mantine-color-green-light)',
  '-': 'var(--mantine-color-red-light)'
} as const

function JsonDifference({ before, now }: { before: object | undefined; now: object }) {
  return (
    <Lines>
      {compareLines(linesOf(before), linesOf(now)).map(({ sign, line }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its position
        <div key={index} data-sign={sign} style={{ background: shades[sign] }}>
          {sign} {line}
        </div>
      ))}
    </Lines>
  )
}
