import { Button, JsonInput, Radio, Stack, TagsInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { project } from '../api.ts'
import { Empty, Failed } from '../parts/states.tsx'
import { useMay, useProjectId } from '../who.ts'
import { parsed } from './campaign-preview.tsx'
import type { StoredCampaign } from './campaigns.tsx'
import { triggerLink } from './triggers.tsx'

export function TriggerForm({ campaign }: { campaign: StoredCampaign }) {
  const projectId = useProjectId()
  const may = useMay('editor')
  const navigate = useNavigate()
  const [to, setTo] = useState('users')
  const [users, setUsers] = useState<string[]>([])
  const [properties, setProperties] = useState('{}')
  const given = parsed(properties)
  const trigger = useMutation({
    mutationFn: () => {
      const audience =
        to === 'default'
          ? undefined
          : to === 'everyone'
            ? { broadcast: true }
            : { targets: users.map((id) => ({ project_user_id: id })) }
      return project<{ trigger_id: string }>(
        projectId,
        'POST',
        `/api/v1/campaigns/${encodeURIComponent(campaign.campaign_id)}:trigger`,
        {
          body: { ...(audience && { audience }), properties: given }
        }
      )
    },
    onSuccess: ({ trigger_id }) => navigate({ to: triggerLink(projectId, trigger_id) })
  })
  if (!may) return <Empty title="You may look, not send">Triggering needs the role editor.</Empty>
  return (
    <Stack maw={520}>
      <Radio.Group label="Who gets it" value={to} onChange={setTo}>
        <Stack gap="xs" mt="xs">
          <Radio value="users" label="Some users, if they are in the segment" />
          <Radio value="everyone" label="Everyone in the segment" />
          <Radio value="default" label="The default audience of the campaign" />
        </Stack>
      </Radio.Group>
      {to === 'users' && (
        <TagsInput
          label="Users"
          description="Type an id and press Enter."
          value={users}
          onChange={setUsers}
          acceptValueOnBlur
        />
      )}
      <JsonInput
        label="Trigger properties"
        description="What {{ trigger.name }} stands for."
        error={given ? undefined : 'This must be an object: { "name": value }'}
        value={properties}
        onChange={setProperties}
        autosize
        minRows={3}
      />
      {trigger.error && <Failed error={trigger.error} />}
      <Button
        onClick={() => trigger.mutate()}
        loading={trigger.isPending}
        disabled={!given || (to === 'users' && users.length === 0)}
      >
        Send it
      </Button>
    </Stack>
  )
}
