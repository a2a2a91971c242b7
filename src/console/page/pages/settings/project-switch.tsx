import { Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Project } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { ErrorAlert } from '../../parts/states.tsx'

/** Turns a setting of the project on and off. */
export function ProjectSwitch({
  of,
  setting,
  label,
  description
}: {
  of: Project
  setting: 'identity_verification' | 'intake'
  label: string
  description: string
}) {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (on: boolean) => project<Project>(of.id, 'PATCH', '', { body: { [setting]: on } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['projects'] })
  })
  return (
    <>
      <Switch
        label={label}
        description={description}
        checked={of[setting]}
        disabled={change.isPending}
        onChange={({ currentTarget: { checked } }) => change.mutate(checked)}
      />
      {change.error && <ErrorAlert error={change.error} />}
    </>
  )
}
