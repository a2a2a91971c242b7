import { Stack, TagsInput, Text } from '@mantine/core'

/** Whom a trigger is for: each has exactly one of the three. */
export type Target = { project_user_id?: string; device_id?: string; user_id?: string }

const kinds = [
  ['project_user_id', 'Users', 'Type an id and press Enter.'],
  ['device_id', 'Devices', 'Only these devices of their users.'],
  ['user_id', 'Users by the service’s own id', undefined]
] as const

/** More than this is not to be typed, and a field of so many would make the page slow. */
const shownAtMost = 200

/** Users and devices by their ids. */
export function Targets({
  targets,
  set,
  error,
  readOnly = false
}: {
  targets: Target[]
  set: (targets: Target[]) => void
  error?: string | undefined
  readOnly?: boolean
}) {
  if (targets.length > shownAtMost)
    return <Text>{targets.length.toLocaleString()} users and devices: change them in the file of the campaign.</Text>
  const of = (kind: (typeof kinds)[number][0]) => targets.flatMap((target) => target[kind] ?? [])
  return (
    <Stack gap="xs">
      {kinds.map(([kind, label, about], index) =>
        kind === 'user_id' && of(kind).length === 0 ? null : (
          <TagsInput
            key={kind}
            label={label}
            description={about}
            value={of(kind)}
            readOnly={readOnly}
            error={index === 0 ? error : undefined}
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
