import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { SavedSegment, Segment, ShownSegment } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { ApiError, fieldError } from '../../api/errors.ts'
import { useHasRole, useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { segmentLink } from '../../parts/links.ts'
import { ErrorAlert } from '../../parts/states.tsx'
import { SegmentBuilder } from '../campaigns/segment/builder.tsx'
import { useSavedSegments } from '../campaigns/segment/ref-row.tsx'

interface Values {
  segment_id: string
  name: string
  segment: Segment
}

const blank: Values = { segment_id: '', name: '', segment: { all: [] } }

/** Edits a saved segment, or creates one if none is given. */
export function SegmentForm({ segment: known }: { segment?: ShownSegment }) {
  const projectId = useProjectId()
  const canEdit = useHasRole('editor')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const others = useSavedSegments()
  const { form, sending, onSubmit } = useApiForm<Values, SavedSegment>({
    initialValues: known ? { segment_id: known.segment_id, name: known.name, segment: known.segment } : blank,
    send: async ({ segment_id, ...body }) => {
      // The request would replace the segment that has the ID.
      if (!known && others.some((each) => each.segment_id === segment_id))
        throw new ApiError(409, 'segment_id: is the ID of another segment', 'conflict')
      return project(projectId, 'PUT', `/segments/${encodeURIComponent(segment_id)}`, { body })
    },
    onSuccess: async ({ result: _, ...saved }) => {
      queries.setQueryData(['segment', projectId, saved.segment_id], saved)
      await queries.invalidateQueries({ queryKey: ['list', projectId, '/segments'] })
      await queries.invalidateQueries({ queryKey: ['saved segments', projectId] })
      if (!known) void navigate({ to: segmentLink(projectId, saved.segment_id) })
    }
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack maw={860}>
        <Group grow align="start" maw={640}>
          <TextInput {...form.getInputProps('name')} label="Name" required readOnly={!canEdit} />
          <TextInput
            {...form.getInputProps('segment_id')}
            label="ID"
            description={known ? 'Can’t be changed.' : 'Campaign files use it: {ref: big-spenders}'}
            required
            readOnly={!canEdit || known !== undefined}
          />
        </Group>
        <SegmentBuilder
          segment={form.values.segment}
          change={(segment) => form.setFieldValue('segment', segment)}
          readOnly={!canEdit}
          findError={(path, only) => fieldError(sending.error, path, only)}
        />
        {sending.error && <ErrorAlert error={sending.error} />}
        {canEdit && (
          <Group>
            <Button type="submit" loading={sending.isPending} disabled={known && !form.isDirty()}>
              {known ? 'Save' : 'Create'}
            </Button>
            {known && known.campaigns.length > 0 && (
              <Text size="sm" c="dimmed">
                A change reaches the campaigns that use it.
              </Text>
            )}
          </Group>
        )}
      </Stack>
    </form>
  )
}
