import { List, Text } from '@mantine/core'
import { PageOf } from '../parts/page.tsx'
import { useProject } from '../who.ts'

export function Home() {
  const project = useProject()
  return (
    <PageOf title="Home" about={project?.name}>
      <List>
        <List.Item>
          <Text>Project {project?.id}</Text>
        </List.Item>
      </List>
    </PageOf>
  )
}
