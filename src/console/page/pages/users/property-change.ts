import { useQueryClient } from '@tanstack/react-query'
import type { User } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { toast } from '../../parts/toasts.tsx'
import { shownValue, type Value } from './values.ts'

/** A value, or undefined where the property is absent. */
export type Maybe = Value | undefined

export const userKey = (projectId: string, userId: string) => ['user', projectId, userId]

/** Changes one property, if it still is what the person saw, and offers to take the change back. */
export function usePropertyChange(userId: string) {
  const projectId = useProjectId()
  const queries = useQueryClient()
  const put = async (name: string, before: Maybe, after: Maybe): Promise<void> => {
    const body = {
      ...(after === undefined ? { remove: [name] } : { set: { [name]: after } }),
      before: before === undefined ? {} : { [name]: before }
    }
    const path = `/users/${encodeURIComponent(userId)}`
    const user = await project<User>(projectId, 'PATCH', path, { body })
    queries.setQueryData(userKey(projectId, userId), user)
  }
  return async (name: string, before: Maybe, after: Maybe): Promise<void> => {
    await put(name, before, after)
    const undo = () =>
      put(name, after, before).then(
        () => toast(`Restored ${name}`),
        (error: Error) => toast(`Could not undo: ${error.message}`)
      )
    toast(after === undefined ? `Deleted ${name}` : `Saved ${name}`, { undo })
  }
}

export const shownMaybe = (value: Maybe): string => (value === undefined ? 'deleted' : shownValue(value))
