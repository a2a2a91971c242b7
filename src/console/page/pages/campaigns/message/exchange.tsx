import { Anchor, Button, FileButton, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Campaign } from '../../../../../wire.ts'
import { project } from '../../../api/client.ts'
import { useHasRole, useProjectId } from '../../../api/session.ts'
import { ErrorAlert } from '../../../parts/states.tsx'
import { plural } from '../../../parts/texts.tsx'

interface Imported {
  changed: number
  warnings: string[]
}

/** Files for translators: the texts of the saved campaign, and their translations back. */
export function TranslatorFiles({ campaign }: { campaign: Campaign }) {
  const projectId = useProjectId()
  const canImport = useHasRole('editor')
  const queries = useQueryClient()
  const path = `/campaigns/${encodeURIComponent(campaign.campaign_id)}/texts`
  const href = (format: string) => `/manage/v1/projects/${encodeURIComponent(projectId)}${path}?format=${format}`
  const translated = languagesOf(campaign).length > 0
  const load = useMutation({
    mutationFn: async (file: File) => project<Imported>(projectId, 'PUT', path, { text: await file.text() }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['campaign', projectId, campaign.campaign_id] })
  })
  return (
    <Stack gap="xs" component="section" aria-label="Files for translators">
      <Group gap="sm">
        <Text size="sm" c="dimmed">
          For translators:
        </Text>
        <Anchor size="sm" href={href('csv')} download={`${campaign.campaign_id}.csv`}>
          CSV
        </Anchor>
        {/* A file in this format holds the languages that there are. */}
        {translated && (
          <Anchor size="sm" href={href('xliff')} download={`${campaign.campaign_id}.xlf`}>
            XLIFF
          </Anchor>
        )}
        {canImport && (
          <FileButton accept=".csv,.xlf,.xliff,text/csv,application/xml" onChange={(file) => file && load.mutate(file)}>
            {(props) => (
              <Button {...props} variant="light" size="compact-sm" loading={load.isPending}>
                Import translations
              </Button>
            )}
          </FileButton>
        )}
      </Group>
      {load.data && <Text role="status">{plural(load.data.changed, 'new text')} imported.</Text>}
      {load.error && <ErrorAlert error={load.error} />}
    </Stack>
  )
}

const languagesOf = ({ message, variants, steps }: Campaign) =>
  [{ message, variants }, ...(steps ?? [])].flatMap((place) =>
    [place.message, ...(place.variants ?? []).map((variant) => variant.message)].flatMap((one) =>
      Object.keys(one?.translations ?? {})
    )
  )
