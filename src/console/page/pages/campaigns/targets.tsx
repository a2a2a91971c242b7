import { Stack, TagsInput, Text } from '@mantine/core'
import type { Campaign } from '../../../../wire.ts'
import type { FindError } from './segment/segment.ts'

/** A user or a device. It has exactly one of the three IDs. */
export type Target = NonNullable<NonNullable<Campaign['default_audience']>['targets']>[number]

const kinds = [
  ['project_user_id', 'Users', 'Type an ID and press Enter.'],
  ['device_id', 'Devices', 'Only these devices.'],
  ['user_id', 'Users by internal ID', undefined]
] as const

/** A field with more tags makes the page slow. */
const maxShown = 200

/** Users and devices by their IDs. */
export function Targets({
  targets,
  set,
  findError,
  path,
  readOnly = false
}: {
  targets: Target[]
  set: (targets: Target[]) => void
  findError: FindError
  /** Path of the targets in the request, for its errors. */
  path: string
  readOnly?: boolean
}) {
  if (targets.length > maxShown)
    return <Text>{targets.length.toLocaleString()} users and devices. Edit the campaign file to change them.</Text>
  const of = (kind: (typeof kinds)[number][0]) => targets.flatMap((target) => target[kind] ?? [])
  const errorOf = (kind: (typeof kinds)[number][0]) => {
    const messages = targets.map((target, index) =>
      target[kind] === undefined
        ? undefined
        : (findError(`${path}[${index}].${kind}`) ?? findError(`${path}[${index}]`, true))
    )
    const all = [kind === kinds[0][0] ? findError(path, true) : undefined, ...messages].filter(
      (one) => one !== undefined
    )
    return [...new Set(all)].join(' · ') || undefined
  }
  return (
    <Stack gap="xs">
      {kinds.map(([kind, label, description]) =>
        kind === 'user_id' && of(kind).length === 0 ? null : (
          <TagsInput
            key={kind}
            label={label}
            description={description}
            value={of(kind)}
            readOnly={readOnly}
            error={errorOf(kind)}
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
