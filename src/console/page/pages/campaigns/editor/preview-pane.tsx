import { Group, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core'
import { ApiError } from '../../../api/errors.ts'
import { useHasRole, useProject } from '../../../api/session.ts'
import { objectOr } from '../../../parts/json.ts'
import { PhonePreview, type Platform, type Scheme, type Shown } from '../../../parts/phone/phone.tsx'
import { useSessionState } from '../../../parts/session-state.ts'
import { ErrorAlert } from '../../../parts/states.tsx'
import { reasonTitle } from '../../triggers/reasons.ts'
import type { CampaignDraft } from '../draft.ts'
import { languageName } from '../message/language-name.ts'
import { CompareButton } from '../preview/compare.tsx'
import { PreviewInputs } from '../preview/inputs.tsx'
import type { usePreview } from '../preview/preview-query.ts'
import { bestSample, MissingValues } from '../preview/sample-message.tsx'
import { TestSend } from '../preview/test-send.tsx'
import { type Place, placeKey, placesOf } from './places.ts'
import { activityShown, renderedAt, shownAt } from './rendered.ts'

interface Props {
  preview: ReturnType<typeof usePreview>
  draft: CampaignDraft
  /** The place that is being edited, by its key. */
  shown: string
  show: (place: Place) => void
  /** Given if the campaign is saved as shown. */
  campaignId: string | undefined
  /** Whether it needs a heading of its own. */
  heading: boolean
}

/** The message on a phone, as it is typed: on each platform, in light and dark, for each step, variant and language. */
export function PreviewPane({ preview, draft, shown, show, campaignId, heading }: Props) {
  const canPreview = useHasRole('editor')
  const places = placesOf(draft)
  const place = places.find((one) => placeKey(one) === shown) ?? places[0]!
  const { data, error } = preview
  const rejected = error instanceof ApiError && error.status === 400
  return (
    <Stack component="section" aria-label="Preview" gap="sm">
      {heading && (
        <Title order={2} size="h4">
          Preview
        </Title>
      )}
      {!draft.live_activity && <PlaceSelects places={places} place={place} show={show} />}
      <Phone preview={preview} draft={draft} place={place} />
      {canPreview ? (
        <>
          {data && !rejected && <CompareButton texts={data.texts} sample={bestSample(data)} />}
          {error && !rejected && <ErrorAlert error={error} />}
          {rejected && (
            <Text size="sm" role="status">
              Fix this to preview: {error.message}
            </Text>
          )}
          <PreviewInputs preview={preview} draft={draft} />
          {data?.warnings.map((warning) => (
            <Text key={warning} size="sm">
              {warning}
            </Text>
          ))}
          <Test preview={preview} place={draft.live_activity ? undefined : place} campaignId={campaignId} />
        </>
      ) : (
        <Text size="sm" c="dimmed">
          View only: rendering for a user needs the editor role.
        </Text>
      )}
    </Stack>
  )
}

function Phone({ preview: { data, of }, draft, place }: Pick<Props, 'preview' | 'draft'> & { place: Place }) {
  const app = useProject()?.name || 'Your app'
  const [platform, setPlatform] = useSessionState<Platform>('preview platform', 'IOS')
  const [scheme, setScheme] = useSessionState<Scheme>('preview scheme', 'light')
  const sample = data && bestSample(data)
  const rendered = draft.live_activity ? sample : renderedAt(data, place)
  const activity = activityShown(draft, rendered?.content, of)
  const { silent } = place.message
  const reason = rendered?.reason ?? (place.tag === null ? sample?.reason : null)
  return (
    <>
      <Group gap="xs">
        <SegmentedControl
          aria-label="Platform"
          size="xs"
          value={platform}
          onChange={(next) => setPlatform(next as Platform)}
          data={[
            { value: 'IOS', label: 'iPhone' },
            { value: 'ANDROID', label: 'Android' },
            { value: 'WEB', label: 'Browser' }
          ]}
        />
        <SegmentedControl
          aria-label="Appearance"
          size="xs"
          value={scheme}
          onChange={(next) => setScheme(next as Scheme)}
          data={[
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' }
          ]}
        />
      </Group>
      <PhonePreview
        platform={platform}
        scheme={scheme}
        app={app}
        small
        label={`Preview for ${sample ? (sample.project_user_id ?? 'an anonymous user') : 'any user'}`}
        notification={activity || silent ? undefined : orExample(shownAt(place, rendered?.content, of))}
        activity={platform === 'IOS' ? activity : undefined}
      />
      <Notes silent={silent === true} activity={activity !== undefined && platform !== 'IOS'} />
      {reason && (
        <Text c="var(--mantine-color-error)" size="sm">
          Would not be delivered: {reason.startsWith('template_failed:') ? reason.slice(17) : reasonTitle(reason)}
        </Text>
      )}
      {rendered && <MissingValues names={rendered.missing} />}
      {sample && <Details sample={sample} />}
    </>
  )
}

/** Shows where the texts will be, while there is none. */
const orExample = (shown: Shown): Shown =>
  shown.title || shown.body ? shown : { ...shown, title: 'Title', body: 'Your text appears here as you type.' }

const Notes = ({ silent, activity }: { silent: boolean; activity: boolean }) => (
  <>
    {silent && <Text size="sm">A silent push shows nothing. It wakes the app.</Text>}
    {activity && <Text size="sm">Only iPhones show Live Activities.</Text>}
  </>
)

/** Whose message it is, the link that it opens, and its size. */
function Details({ sample: { project_user_id, content, payload_bytes } }: { sample: Sample }) {
  const link = content?.notification?.landingUrl
  return (
    <>
      {link && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          Link: {link}
        </Text>
      )}
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        As {project_user_id ?? 'an anonymous user'} would see it · {payload_bytes?.toLocaleString() ?? 'no'} bytes
      </Text>
    </>
  )
}

type Sample = NonNullable<ReturnType<typeof usePreview>['data']>['sample'][number]

/** Chooses the step, the variant and the language that the phone shows. Only choices that exist are offered. */
function PlaceSelects({ places, place, show }: { places: Place[]; place: Place; show: (place: Place) => void }) {
  /** The place with the given parts that is nearest to the one shown. */
  const go = (wanted: Partial<Pick<Place, 'step' | 'variant' | 'tag'>>) => {
    const fits = (one: Place, names: ('step' | 'variant' | 'tag')[]) =>
      names.every((name) => one[name] === (name in wanted ? wanted[name] : place[name]))
    const [given] = Object.keys(wanted) as ('step' | 'variant' | 'tag')[]
    const next =
      places.find((one) => fits(one, ['step', 'variant', 'tag'])) ??
      places.find((one) => fits(one, ['step', given!])) ??
      places.find((one) => fits(one, [given!]))
    if (next) show(next)
  }
  const distinct = <Value,>(values: Value[]) => [...new Set(values)]
  const here = places.filter(({ step }) => step === place.step)
  const steps = distinct(places.map(({ step }) => step))
  const variants = distinct(here.map(({ variant }) => variant))
  const tags = distinct(here.filter(({ variant }) => variant === place.variant).map(({ tag }) => tag))
  if (places.length < 2) return null
  return (
    <Group gap="xs" grow>
      {steps.length > 1 && (
        <Select
          label="Step"
          size="xs"
          allowDeselect={false}
          value={place.step}
          onChange={(step) => go({ step })}
          data={steps.map((step, index) => ({ value: step ?? '', label: `${index + 1}: ${step}` }))}
        />
      )}
      {variants.length > 1 && (
        <Select
          label="Variant"
          size="xs"
          allowDeselect={false}
          value={place.variant}
          onChange={(variant) => go({ variant })}
          data={variants.map((variant) => variant ?? '')}
        />
      )}
      {tags.length > 1 && (
        <Select
          label="Language"
          size="xs"
          allowDeselect={false}
          value={place.tag ?? ''}
          onChange={(tag) => go({ tag: tag || null })}
          data={tags.map((tag) => ({
            value: tag ?? '',
            label:
              tag === null
                ? place.message.language
                  ? languageName(place.message.language)
                  : 'Default'
                : languageName(tag)
          }))}
        />
      )}
    </Group>
  )
}

function Test({
  preview: { data, properties },
  place,
  campaignId
}: Pick<Props, 'preview' | 'campaignId'> & { place: Place | undefined }) {
  const sample = data && bestSample(data)
  if (!sample) return data ? <Text c="dimmed">No matching user</Text> : null
  if (campaignId === undefined)
    return (
      <Text size="sm" c="dimmed">
        Save to send a test.
      </Text>
    )
  const { step, variant, tag } = place ?? {}
  const text = { ...(step && { step }), ...(variant && { variant }), ...(tag && { language: tag }) }
  return (
    <TestSend campaignId={campaignId} deviceId={sample.device_id} properties={objectOr(properties, {})} text={text} />
  )
}
