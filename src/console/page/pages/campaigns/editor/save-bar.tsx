import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Campaign } from '../../../../../wire.ts'
import { type StepName, stepLabels, stepNames } from './faults.ts'
import type { useCampaignEditor } from './use-campaign-editor.ts'

interface Props {
  editor: ReturnType<typeof useCampaignEditor>
  campaign: Campaign | undefined
  step: StepName
  go: (step: StepName) => void
  /** The button that opens the preview on narrow screens. */
  preview: ReactNode
}

/** Saves, discards and goes on. It stays in view, because steps are long. */
export function SaveBar({ editor, campaign, step, go, preview }: Props) {
  const { saving, changed, canEdit, discard, conflict, form } = editor
  const next = stepNames[stepNames.indexOf(step) + 1]
  const { status } = form.values
  const isDraft = status === 'draft'
  const blocked = conflict !== undefined || saving.waiting
  return (
    <Group
      pos="sticky"
      bottom="var(--toasts-height, 0px)"
      py="xs"
      gap="xs"
      bg="var(--mantine-color-body)"
      style={{ zIndex: 2, borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      {canEdit && (
        <>
          {step === 'review' && (isDraft || status === 'paused') && (
            <Button onClick={() => saving.save({ status: 'active' })} loading={saving.isPending} disabled={blocked}>
              Activate
            </Button>
          )}
          <Button
            variant={step === 'review' && status !== 'active' ? 'default' : 'filled'}
            onClick={() => saving.save()}
            loading={saving.isPending}
            disabled={blocked || (campaign !== undefined && !changed)}
          >
            {isDraft ? 'Save draft' : 'Save'}
          </Button>
          {changed && campaign && !conflict && (
            <Button variant="default" onClick={discard} disabled={saving.isPending || saving.waiting}>
              Discard changes
            </Button>
          )}
        </>
      )}
      {next && (
        <Button variant="default" onClick={() => go(next)}>
          Next: {stepLabels[next]}
        </Button>
      )}
      {preview}
      <State editor={editor} campaign={campaign} />
    </Group>
  )
}

/** What became of the changes, in words. */
function State({ editor: { saving, changed, kept, canEdit }, campaign }: Pick<Props, 'editor' | 'campaign'>) {
  if (!canEdit) return null
  if (saving.waiting)
    return (
      <Group gap="xs" role="status">
        <Text size="sm" c="var(--mantine-color-error)">
          Not saved: the service can’t be reached. {kept ? 'Your changes are kept in this tab.' : 'Keep this tab open.'}{' '}
          Trying again every 2 seconds.
        </Text>
        <Button size="compact-xs" variant="default" onClick={saving.stop}>
          Stop trying
        </Button>
      </Group>
    )
  const text = saving.error
    ? 'Not saved'
    : !changed
      ? campaign && 'All changes saved'
      : kept
        ? 'Not saved yet. Kept in this tab.'
        : 'Not saved yet, and too large to be kept in this tab.'
  return (
    <Text size="sm" role="status" c={saving.error ? 'var(--mantine-color-error)' : 'dimmed'}>
      {text}
    </Text>
  )
}
