import { Stack, TagsInput, Text } from '@mantine/core'
import type { Problem } from './segment/builder.tsx'

/** Whom a trigger is for: each has exactly one of the three. */
export type Target = { project_user_id?: string; device_id?: string; user_id?: string }

const kinds = [
  ['project_user_id', 'Users', 'Type an ID and press Enter.'],
  ['device_id', 'Devices', 'Only these devices.'],
  ['user_id', 'Users by internal ID', undefined]
] as const

/** More than this is not to be typed, and a field of so many would make the page slow. */
const shownAtMost = 200

/** Users and devices by their ids. */
export function Targets({
  targets,
  set,
  problem,
  path,
  readOnly = false
}: {
  targets: Target[]
  set: (targets: Target[]) => void
  /** What the service says about a place of the audience, and the place of the targets in it. */
  problem: Problem
  path: string
  readOnly?: boolean
}) {
  if (targets.length > shownAtMost)
    return <Text>{targets.length.toLocaleString()} users and devices. Edit the campaign file to change them.</Text>
  const of = (kind: (typeof kinds)[number][0]) => targets.flatMap((target) => target[kind] ?? [])
  const wrong = (kind: (typeof kinds)[number][0]) => {
    const told = targets.map((target, index) =>
      target[kind] === undefined
        ? undefined
        : (problem(`${path}[${index}].${kind}`) ?? problem(`${path}[${index}]`, true))
    )
    const all = [kind === kinds[0][0] ? problem(path, true) : undefined, ...told].filter((one) => one !== undefined)
    return [...new Set(all)].join(' · ') || undefined
  }
  return (
    <Stack gap="xs">
      {kinds.map(([kind, label, about]) =>
        kind === 'user_id' && of(kind).length === 0 ? null : (
          <TagsInput
            key={kind}
            label={label}
            description={about}
            value={of(kind)}
            readOnly={readOnly}
            error={wrong(kind)}
            onChange={(ids) =>
              set([...targets.filter((target) => target[kind] === undefined), ...ids.map((id) => ({ [kind]: id }))])
            }
            splitChars={[',', ' ', '\n']}
            acceptValueOnBlur
          />
        )
      )}
    </Stack>
  )
}
