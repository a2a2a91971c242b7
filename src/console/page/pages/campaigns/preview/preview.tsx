import { Stack, Text, Title } from '@mantine/core'
import { ApiError } from '../../../api/errors.ts'
import { useHasRole } from '../../../api/session.ts'
import { objectOr } from '../../../parts/json.ts'
import { ErrorAlert } from '../../../parts/states.tsx'
import type { CampaignDraft } from '../draft.ts'
import { AudienceSummary } from './audience-summary.tsx'
import { CompareButton } from './compare.tsx'
import { PreviewInputs } from './inputs.tsx'
import type { usePreview } from './preview-query.ts'
import { bestSample, SampleMessage } from './sample-message.tsx'
import { TestSend } from './test-send.tsx'

/** The number of recipients and one rendered message. `campaignId` is given if the campaign is saved as shown. */
export function CampaignPreview({
  preview,
  draft,
  campaignId
}: {
  preview: ReturnType<typeof usePreview>
  draft: CampaignDraft
  campaignId: string | undefined
}) {
  const { data, error, properties } = preview
  const canPreview = useHasRole('editor')
  if (!canPreview) return <Text c="dimmed">View only: previews need the editor role.</Text>
  const first = data && bestSample(data)
  const rejected = error instanceof ApiError && error.status === 400
  return (
    <Stack pos="sticky" top={72} component="section" aria-label="Preview">
      <Title order={2} size="h4">
        Preview
      </Title>
      <PreviewInputs preview={preview} draft={draft} />
      {data?.warnings.map((warning) => (
        <Text key={warning} size="sm">
          {warning}
        </Text>
      ))}
      {!data && !error && <Text c="dimmed">Enter a title or body to see a preview.</Text>}
      {error && !rejected && <ErrorAlert error={error} />}
      {rejected && <Text role="status">Fix this to preview: {error.message}</Text>}
      {data && !rejected && (
        <>
          <AudienceSummary {...data.audience} />
          {first ? <SampleMessage {...first} /> : <Text c="dimmed">No matching user</Text>}
          <CompareButton texts={data.texts} sample={first} />
        </>
      )}
      {first &&
        (campaignId ? (
          <TestSend campaignId={campaignId} deviceId={first.device_id} properties={objectOr(properties, {})} />
        ) : (
          <SaveFirst />
        ))}
    </Stack>
  )
}

const SaveFirst = () => (
  <Text size="sm" c="dimmed">
    Save to send a test.
  </Text>
)
