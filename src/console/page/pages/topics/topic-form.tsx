import { Button, Modal, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Topic } from '../../../../wire.ts'
import { project } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useProjectId } from '../../api/session.ts'
import { useApiForm } from '../../parts/forms/api-form.ts'
import { ErrorAlert } from '../../parts/states.tsx'

interface Props {
  /** The topic to edit; absent to create one. */
  of?: Topic
  known: Topic[]
  done: () => unknown
}

/** A button that opens the form of a topic. */
export function TopicButton(props: Props) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button onClick={open} {...(props.of && { size: 'xs', variant: 'light' })}>
        {props.of ? 'Edit' : 'Create topic'}
      </Button>
      <Modal opened={opened} onClose={close} title={props.of ? `Edit “${props.of.name}”` : 'Create topic'} centered>
        {opened && <TopicForm {...props} done={() => Promise.resolve(props.done()).then(close)} />}
      </Modal>
    </>
  )
}

function TopicForm({ of, known, done }: Props) {
  const projectId = useProjectId()
  const { form, sending, onSubmit } = useApiForm({
    initialValues: {
      topic: of?.topic ?? '',
      name: of?.name ?? '',
      description: of?.description ?? '',
      default: (of?.default ?? 'subscribed') as string
    },
    send: async ({ topic, ...body }) => {
      // The request would replace the topic that has the ID.
      if (!of && known.some((each) => each.topic === topic))
        throw new ApiError(409, 'topic: is the ID of another topic', 'conflict')
      return project(projectId, 'PUT', `/topics/${encodeURIComponent(topic)}`, { body })
    },
    onSuccess: done
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <TextInput
          {...form.getInputProps('name')}
          label="Name"
          description="As people read it."
          required
          data-autofocus
        />
        <TextInput
          {...form.getInputProps('topic')}
          label="ID"
          description={of ? 'Can’t be changed.' : 'a to z, digits, _ and -'}
          readOnly={of !== undefined}
          required
        />
        <Textarea {...form.getInputProps('description')} label="Description" autosize />
        <Select
          {...form.getInputProps('default')}
          label="People who have not chosen"
          allowDeselect={false}
          data={[
            { value: 'subscribed', label: 'Get its messages' },
            { value: 'unsubscribed', label: 'Don’t get its messages' }
          ]}
        />
        {sending.error && <ErrorAlert error={sending.error} />}
        <Button type="submit" loading={sending.isPending}>
          {of ? 'Save' : 'Create'}
        </Button>
      </Stack>
    </form>
  )
}
