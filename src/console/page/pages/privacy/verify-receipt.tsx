import { Alert, Button, FileButton, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type DragEvent, useState } from 'react'
import { project } from '../../api/client.ts'
import { useProjectId } from '../../api/session.ts'
import { errorText, readObject } from '../../parts/json.ts'
import { ErrorAlert } from '../../parts/states.tsx'

interface Verdict {
  valid: boolean
  same_user: boolean | null
}

/** Checks a receipt that a person has kept: pasted, chosen or dropped. */
export function VerifyReceipt() {
  const projectId = useProjectId()
  const [text, setText] = useState('')
  const [userId, setUserId] = useState('')
  const read = readObject(text)
  const verify = useMutation({
    mutationFn: () =>
      project<Verdict>(projectId, 'POST', '/erasures:verify', {
        body: { receipt: read, ...(userId !== '' && { project_user_id: userId }) }
      })
  })
  const change = (next: string) => {
    setText(next)
    verify.reset()
  }
  const open = (file: File | null | undefined) => void file?.text().then(change)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    open(event.dataTransfer.files[0])
  }
  return (
    <Stack maw={720} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <Textarea
        label="Receipt"
        description="Paste the JSON of a receipt, or drop its file here."
        value={text}
        onChange={({ currentTarget }) => change(currentTarget.value)}
        error={text.trim() === '' ? undefined : errorText(read)}
        autosize
        minRows={6}
        maxRows={18}
        styles={{ input: { fontFamily: 'monospace' } }}
      />
      <TextInput
        label="User ID (optional)"
        description="Is the receipt about this user?"
        value={userId}
        onChange={({ currentTarget }) => {
          setUserId(currentTarget.value)
          verify.reset()
        }}
        dir="auto"
        maw={360}
      />
      <Group>
        <Button disabled={read instanceof Error} loading={verify.isPending} onClick={() => verify.mutate()}>
          Verify
        </Button>
        <FileButton accept=".json,application/json" onChange={open}>
          {(props) => (
            <Button variant="default" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </Group>
      {verify.error && <ErrorAlert error={verify.error} />}
      {verify.data && <Result {...verify.data} userId={userId} />}
    </Stack>
  )
}

function Result({ valid, same_user, userId }: Verdict & { userId: string }) {
  if (!valid)
    return (
      <Alert color="red" role="status" title="The receipt is not genuine">
        This project did not issue it, or it was changed.
      </Alert>
    )
  if (same_user === false)
    return (
      <Alert color="orange" role="status" title="The receipt is genuine, and about another user">
        It is not about {userId}.
      </Alert>
    )
  return (
    <Alert color="teal" role="status" title="The receipt is genuine">
      This project issued it, and it is unchanged.{same_user && ` It is about ${userId}.`}
    </Alert>
  )
}
