import { Anchor, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { PageLayout } from '../../parts/page.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Loaded } from '../../parts/states.tsx'
import { CopyBlock } from '../../parts/texts.tsx'
import { PauseAgents } from '../settings/pause-button.tsx'
import { Deliveries } from '../webhooks/deliveries.tsx'
import { AgentKeys } from './agent-keys.tsx'
import { Playground } from './playground.tsx'
import { Tasks } from './tasks.tsx'

export const Agents = () => (
  <PageLayout
    title="Agents"
    about="Tasks that AI agents run over A2A, and a playground to try it."
    actions={<PauseAgents />}
  >
    <PageTabs
      tabs={[
        ['playground', 'Playground', <Playground key="playground" />],
        ['tasks', 'Tasks', <Tasks key="tasks" />],
        ['keys', 'Keys and policies', <AgentKeys key="keys" />],
        ['deliveries', 'Webhook deliveries', <Deliveries key="deliveries" />],
        ['card', 'Agent card', <Card key="card" />]
      ]}
    />
  </PageLayout>
)

function Card() {
  const card = useQuery({
    queryKey: ['card'],
    queryFn: async () => {
      const response = await fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })
      return (await response.json()) as object
    }
  })
  return (
    <Loaded query={card}>
      {(found) => (
        <Stack>
          <Text>
            Published at <Anchor href="/.well-known/agent-card.json">/.well-known/agent-card.json</Anchor>.
          </Text>
          <CopyBlock label="agent card" text={JSON.stringify(found, null, 2)} />
        </Stack>
      )}
    </Loaded>
  )
}
