import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Campaign } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useHasRole, useProjectId } from '../../../api/session.ts'
import { ErrorAlert } from '../../../parts/states.tsx'
import { When } from '../../../parts/texts.tsx'

type Variants = NonNullable<Campaign['variants']>

/** The variant that all recipients of the saved campaign get, chosen by hand or by its results. */
export function Winners({ campaign }: { campaign: Campaign }) {
  const places = [
    { step: null, variants: campaign.variants },
    ...(campaign.steps ?? []).map(({ id, variants }) => ({ step: id as string | null, variants }))
  ]
  return places.map(({ step, variants }) =>
    variants ? <WinnerOf key={step} campaign={campaign} step={step} variants={variants} /> : null
  )
}

function WinnerOf({ campaign, step, variants }: { campaign: Campaign; step: string | null; variants: Variants }) {
  const projectId = useProjectId()
  const canChoose = useHasRole('editor')
  const queries = useQueryClient()
  const [chosen, setChosen] = useState<string | null>(null)
  const winner = campaign.winners?.find((each) => each.step === step)
  const choose = useMutation({
    mutationFn: (variant: string | null) =>
      project(projectId, 'POST', `/campaigns/${encodeURIComponent(campaign.campaign_id)}:choose-winner`, {
        body: { variant, step }
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['campaign', projectId, campaign.campaign_id] })
  })
  return (
    <Stack gap="xs" component="section" aria-label={step === null ? 'Winner' : `Winner of step ${step}`}>
      {winner ? (
        <Group>
          <Text role="status">
            Everyone gets variant <b>{winner.variant}</b>
            {step !== null && ` in step ${step}`} since <When at={winner.chosen_at} />
            {winner.by === null ? ', chosen by hand.' : `, chosen by ${winner.by}.`}
          </Text>
          {canChoose && (
            <Button variant="light" size="xs" loading={choose.isPending} onClick={() => choose.mutate(null)}>
              Test all variants again
            </Button>
          )}
        </Group>
      ) : (
        canChoose && (
          <Group align="end">
            <Select
              label={step === null ? 'Send one variant to everyone' : `Send one variant of step ${step} to everyone`}
              placeholder="Variant"
              w={260}
              value={chosen}
              onChange={setChosen}
              data={variants.map(({ id }) => id)}
            />
            <Button
              variant="light"
              disabled={chosen === null}
              loading={choose.isPending}
              onClick={() => choose.mutate(chosen)}
            >
              Choose winner
            </Button>
          </Group>
        )
      )}
      {choose.error && <ErrorAlert error={choose.error} />}
    </Stack>
  )
}
