import { Grid } from '@mantine/core'
import { useProject } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { RecentTriggers } from '../triggers/recent-triggers.tsx'
import { GatewayHealth, Nodes } from './health.tsx'
import { LastHour, RecentMessages } from './recent.tsx'
import { SetupSteps } from './setup-steps.tsx'

export function Home() {
  const project = useProject()
  return (
    <PageLayout title="Home" about={project && `${project.name} (${project.id})`}>
      <SetupSteps />
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <LastHour />
          <RecentMessages />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <RecentTriggers />
          <GatewayHealth />
          <Nodes />
        </Grid.Col>
      </Grid>
    </PageLayout>
  )
}
