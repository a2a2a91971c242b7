import { useQuery } from '@tanstack/react-query'
import type { Actor } from '../../../wire.ts'
import { manage, project } from './client.ts'
import { useHasRole, useProjectId } from './session.ts'

/** Who has changed something in the project, by name. Only administrators may read it. */
export function useActors() {
  const projectId = useProjectId()
  return useQuery({
    queryKey: ['actors', projectId],
    queryFn: () => project<{ items: Actor[] }>(projectId, 'GET', '/actors'),
    meta: { kinds: ['audit'] },
    enabled: useHasRole('admin')
  })
}

/** Who is in the audit log of the installation, by name. */
export const useInstallationActors = () =>
  useQuery({ queryKey: ['actors', null], queryFn: () => manage<{ items: Actor[] }>('GET', '/actors') })

/** The name of an author of changes, or its kind where the name is not known. */
export function useNameOf(): (actor: string) => string {
  const { data } = useActors()
  return (actor) => data?.items.find((one) => one.actor === actor)?.name ?? kindOf(actor)
}

const kinds: Record<string, string> = { member: 'A member', token: 'A token', key: 'A key' }
const kindOf = (actor: string) => kinds[actor.split(' ')[0]!] ?? actor
