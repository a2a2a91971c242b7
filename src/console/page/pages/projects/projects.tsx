import { SimpleGrid, TextInput } from '@mantine/core'
import { useHasRole, useProjects } from '../../api/session.ts'
import { PageLayout } from '../../parts/page.tsx'
import { EmptyState, Loaded } from '../../parts/states.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { CreateProject } from './create-project.tsx'
import { ProjectCard } from './project-card.tsx'

/** A field for the search appears when there is something to search. */
const fewProjects = 4

/** All projects of the installation. A token of one project sees only that project. */
export function Projects() {
  const projects = useProjects()
  const canManage = useHasRole('admin')
  const [search, setSearch] = useUrlState('search')
  return (
    <PageLayout
      title="All projects"
      about="Each project has its own users, keys, campaigns and messages."
      actions={canManage && <CreateProject />}
    >
      <Loaded query={projects}>
        {({ items }) => {
          const words = search.toLowerCase()
          const found = items.filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(words))
          if (items.length === 0)
            return (
              <EmptyState title="No projects yet">
                {canManage ? 'Create your first project above.' : 'Ask an admin to create one.'}
              </EmptyState>
            )
          return (
            <>
              {(items.length > fewProjects || search !== '') && (
                <TextInput
                  label="Search"
                  placeholder="Name or ID"
                  maw={320}
                  value={search}
                  onChange={({ currentTarget }) => setSearch(currentTarget.value)}
                />
              )}
              {found.length === 0 && <EmptyState title={`No projects match “${search}”`} />}
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="section" aria-label="Projects">
                {found.map((project, index) => (
                  <ProjectCard key={project.id} project={project} canDelete={canManage} counted={index < mostCounted} />
                ))}
              </SimpleGrid>
            </>
          )
        }}
      </Loaded>
    </PageLayout>
  )
}

/** Each card asks for its figures; further ones show none. */
const mostCounted = 24
