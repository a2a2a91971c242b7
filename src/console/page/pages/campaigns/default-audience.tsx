import { Radio, Stack } from '@mantine/core'
import type { Campaign } from './campaigns.tsx'
import type { Problem } from './segment/builder.tsx'
import { Targets } from './targets.tsx'

const kindOf = (audience: Campaign['default_audience']) =>
  audience?.broadcast ? 'everyone' : audience?.targets ? 'targets' : 'nobody'

const first: Record<string, Campaign['default_audience']> = {
  everyone: { broadcast: true },
  targets: { targets: [] },
  nobody: undefined
}

/** Identity gets it when whoever triggers it says nothing about that. */
export function DefaultAudience({
  audience,
  set,
  may,
  problem
}: {
  audience: Campaign['default_audience']
  set: (audience: Campaign['default_audience']) => void
  may: boolean
  problem: Problem
}) {
  const listed = kindOf(audience) === 'targets'
  return (
    <>
      <Radio.Group
        label="Default audience"
        description="Used when a trigger does not specify an audience."
        inputWrapperOrder={['label', 'description', 'input', 'error']}
        value={kindOf(audience)}
        onChange={(kind) => set(first[kind])}
        error={problem('default_audience', listed)}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="nobody" label="None: specify at trigger time" disabled={!may} />
          <Radio value="everyone" label="Everyone in the audience" disabled={!may} />
          <Radio value="targets" label="Specific users and devices" disabled={!may} />
        </Stack>
      </Radio.Group>
      {audience && !audience.broadcast && audience.targets && (
        <Targets
          targets={audience.targets}
          set={(targets) => set({ targets })}
          problem={problem}
          path="default_audience.targets"
          readOnly={!may}
        />
      )}
    </>
  )
}
