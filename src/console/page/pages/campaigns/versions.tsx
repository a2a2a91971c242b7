import { Accordion, Group, Text } from '@mantine/core'
import type { Campaign, CampaignVersion } from '../../../../wire.ts'
import { usePagedList } from '../../api/paged-list.ts'
import { ErrorAlert, Loading } from '../../parts/states.tsx'
import { Lines, When } from '../../parts/texts.tsx'

/** Each version with its difference to the one before. */
export function CampaignVersions({ campaign }: { campaign: Campaign }) {
  const pages = usePagedList<CampaignVersion>(`/campaigns/${encodeURIComponent(campaign.campaign_id)}/versions`)
  if (pages.error) return <ErrorAlert error={pages.error} retry={pages.refetch} />
  if (!pages.data) return <Loading />
  const versions = pages.data.pages.flatMap(({ items }) => items)
  return (
    <Accordion variant="separated" maw={800}>
      {versions.map(({ version, actor, created_at, campaign: now }, index) => (
        <Accordion.Item key={version} value={String(version)}>
          <Accordion.Control>
            <Group>
              <Text fw={600}>Version {version}</Text>
              <Text size="sm" c="dimmed">
                <When at={created_at} /> by {actor}
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Difference before={versions[index + 1]?.campaign} now={now} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}

const linesOf = (value: object | undefined) => (value ? JSON.stringify(value, null, 2).split('\n') : [])

/** A diff by lines through the longest common subsequence. Quadratic, which is enough for the few lines of a campaign. */
function compare(before: string[], now: string[]): { sign: ' ' | '+' | '-'; line: string }[] {
  const common = Array.from({ length: before.length + 1 }, () => new Array<number>(now.length + 1).fill(0))
  for (let b = before.length - 1; b >= 0; b--) {
    for (let n = now.length - 1; n >= 0; n--) {
      common[b]![n] =
        before[b] === now[n] ? common[b + 1]![n + 1]! + 1 : Math.max(common[b + 1]![n]!, common[b]![n + 1]!)
    }
  }
  const found: { sign: ' ' | '+' | '-'; line: string }[] = []
  let b = 0
  let n = 0
  while (b < before.length || n < now.length) {
    if (b < before.length && n < now.length && before[b] === now[n]) {
      found.push({ sign: ' ', line: now[n]! })
      b++
      n++
    } else if (n < now.length && (b === before.length || common[b]![n + 1]! >= common[b + 1]![n]!)) {
      found.push({ sign: '+', line: now[n++]! })
    } else {
      found.push({ sign: '-', line: before[b++]! })
    }
  }
  return found
}

const shades = { ' ': undefined, '+': 'var(--mantine-color-green-light)', '-': 'var(--mantine-color-red-light)' }

function Difference({ before, now }: { before: object | undefined; now: object }) {
  return (
    <Lines>
      {compare(linesOf(before), linesOf(now)).map(({ sign, line }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its position
        <div key={index} style={{ background: shades[sign] }}>
          {sign} {line}
        </div>
      ))}
    </Lines>
  )
}
