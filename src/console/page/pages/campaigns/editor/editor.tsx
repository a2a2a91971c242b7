import { Box, Button, Grid, Group, Modal, Stack, TextInput, Title } from '@mantine/core'
import { useDisclosure, useHotkeys, useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Campaign } from '../../../../../wire.ts'
import { conflictError } from '../../../api/errors.ts'
import { ErrorAlert } from '../../../parts/states.tsx'
import { useUrlState } from '../../../parts/url-state.ts'
import { EditorProvider, useEditor } from '../editor-form.ts'
import { AudienceStep } from './audience-step.tsx'
import { Conflict } from './conflict.tsx'
import { type Fault, type StepName, stepLabels, stepNames } from './faults.ts'
import { MessageStep } from './message-step.tsx'
import { type Place, placeKey, placeOf, placesOf } from './places.ts'
import { PreviewPane } from './preview-pane.tsx'
import { ReviewStep } from './review-step.tsx'
import { SaveBar } from './save-bar.tsx'
import { Stepper } from './stepper.tsx'
import { TimingStep } from './timing-step.tsx'
import { type Beginning, useCampaignEditor } from './use-campaign-editor.ts'

/** Edits a campaign, or creates one if none is given. */
export function CampaignEditor({ campaign, beginning }: { campaign?: Campaign; beginning?: Beginning }) {
  const editor = useCampaignEditor(campaign, beginning)
  const { form, canEdit, findError, changed, preview, saving, conflict, round } = editor
  const [wanted, choose] = useUrlState('step')
  const step = stepNames.find((name) => name === wanted) ?? (campaign ? 'review' : 'audience')
  const { tabs, openTab, shown, show, place } = usePlaces(form.values)
  const goTo = useGoTo(choose, show, form.values)
  const aside = useRef<Record<string, unknown>>({})
  const faults = useNameFault(editor.faults, form.values.name, step)
  useHotkeys([['mod+S', () => canEdit && !conflict && saving.save()]], [])
  const pane = (heading: boolean) => (
    <PreviewPane
      heading={heading}
      preview={preview}
      draft={form.values}
      shown={shown}
      show={show}
      campaignId={changed ? undefined : campaign?.campaign_id}
    />
  )
  const nextAt = preview.data?.next_at ?? campaign?.next_at
  return (
    <EditorProvider value={{ form, canEdit, findError, nextAt, tabs, openTab, aside }}>
      <Stack onFocus={({ target }) => place(target.getAttribute('data-path'))}>
        {conflict && (
          <Conflict theirs={conflict} mine={form.values} version={editor.base.version} resolve={editor.resolve} />
        )}
        <Identity created={campaign !== undefined} conflict={conflictError(saving.error)} />
        <Stepper open={step} go={choose} faults={faults} />
        <Columns pane={pane}>
          {(previewButton) => (
            <Stack>
              <StepHeading step={step} />
              {step === 'audience' && <AudienceStep preview={preview} />}
              {step === 'message' && <MessageStep campaign={campaign} round={round} />}
              {step === 'timing' && <TimingStep round={round} />}
              {step === 'review' && (
                <ReviewStep draft={form.values} campaign={campaign} preview={preview} faults={faults} goTo={goTo} />
              )}
              {saving.error && !conflict && <ErrorAlert error={saving.error} />}
              <SaveBar editor={editor} campaign={campaign} step={step} go={choose} preview={previewButton} />
            </Stack>
          )}
        </Columns>
      </Stack>
    </EditorProvider>
  )
}

/** The open tabs of the editor, and the text that the preview shows: the one that was edited last. */
function usePlaces(draft: Parameters<typeof placesOf>[0]) {
  const [tabs, setTabs] = useState<Record<string, string>>({})
  const [shown, setShown] = useState('')
  const places = placesOf(draft)
  /** Opens the tabs of a text. */
  const show = ({ path, tag }: Place) => {
    const [, variants, index] = /^(.*variants)\[(\d+)\]\.message$/.exec(path) ?? []
    setTabs((before) => ({ ...before, [path]: tag ?? 'default', ...(variants && index && { [variants]: index }) }))
    setShown(placeKey({ path, tag }))
  }
  return {
    tabs,
    shown,
    show,
    openTab(path: string, tab: string) {
      setTabs((before) => ({ ...before, [path]: tab }))
      const message = path.endsWith('variants') ? `${path}[${tab}].message` : path
      const language = path.endsWith('variants') ? tabs[message] : tab
      setShown(placeKey({ path: message, tag: language === 'default' || !language ? null : language }))
    },
    /** A field got the focus. */
    place(path: string | null) {
      const found = path === null ? undefined : placeOf(places, path)
      if (found && placeKey(found) !== shown) setShown(placeKey(found))
    }
  }
}

/** Opens the step of a fault, the tab of its text, and puts the focus on its field. */
function useGoTo(choose: (step: string) => void, show: (place: Place) => void, draft: Parameters<typeof placesOf>[0]) {
  const [wanted, setWanted] = useState<string>()
  useEffect(() => {
    if (wanted === undefined) return
    const fields = [...document.querySelectorAll<HTMLElement>('[data-path]')]
    const field = fields.find(({ dataset }) => dataset.path === wanted)
    ;(field ?? fields.find(({ dataset }) => dataset.path?.startsWith(wanted)))?.focus()
    setWanted(undefined)
  }, [wanted])
  return ({ step, path }: { step: StepName | undefined; path?: string }) => {
    if (step) choose(step)
    const place = path === undefined ? undefined : placeOf(placesOf(draft), path)
    if (place) show(place)
    // The field is in the page after the step was opened.
    if (path !== undefined) setTimeout(() => setWanted(path), 50)
  }
}

/** A missing name is a fault only when the campaign is reviewed: it is typed first, or last. */
const useNameFault = (faults: Fault[], name: string | undefined, step: StepName): Fault[] =>
  step === 'review' && !name && faults.every(({ path }) => path !== 'name')
    ? [{ path: 'name', message: 'is needed', step: undefined }, ...faults]
    : faults

/** Screen readers hear where they are after a step was opened. */
function StepHeading({ step }: { step: StepName }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const before = useRef(step)
  useEffect(() => {
    if (before.current !== step) heading.current?.focus({ preventScroll: true })
    before.current = step
  }, [step])
  return (
    <Title order={2} size="h4" ref={heading} tabIndex={-1} style={{ outline: 'none' }}>
      {stepLabels[step]}
    </Title>
  )
}

interface ColumnsProps {
  pane: (heading: boolean) => ReactNode
  children: (previewButton: ReactNode) => ReactNode
}

/** The step beside the preview. On narrow screens a button opens the preview over the page. */
function Columns({ pane, children }: ColumnsProps) {
  const wide = useMediaQuery('(min-width: 62em)', undefined, { getInitialValueInEffect: false })
  const [opened, { open, close }] = useDisclosure()
  if (wide)
    return (
      <Grid gap="xl">
        <Grid.Col span={8}>{children(null)}</Grid.Col>
        <Grid.Col span={4}>
          <Box pos="sticky" top={72}>
            {pane(true)}
          </Box>
        </Grid.Col>
      </Grid>
    )
  return (
    <>
      {children(
        <Button variant="light" onClick={open}>
          Preview
        </Button>
      )}
      <Modal opened={opened} onClose={close} fullScreen title="Preview">
        {pane(false)}
      </Modal>
    </>
  )
}

/** Name and ID, above the steps. */
function Identity({ created, conflict }: { created: boolean; conflict: string | undefined }) {
  const { field } = useEditor()
  const id = field('campaign_id')
  return (
    <Group grow align="start">
      <TextInput {...field('name')} label="Name" required />
      {!created && <TextInput {...id} label="ID" description="Leave blank to generate." error={id.error ?? conflict} />}
    </Group>
  )
}
