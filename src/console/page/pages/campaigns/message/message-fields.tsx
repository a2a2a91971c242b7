import { Textarea, TextInput } from '@mantine/core'
import { useEditor } from '../editor-form.ts'

/** The texts of a message, or of its translation into one language. */
export function TextFields({ path, placeholders = {} }: { path: string; placeholders?: Record<string, string> }) {
  const { field, findError } = useEditor()
  const title = field(`${path}.title`)
  return (
    <>
      {/* A message without any text is rejected as a whole; its error appears at the title. */}
      <TextInput
        {...title}
        label="Title"
        placeholder={placeholders.title}
        error={title.error ?? findError(path, true)}
        data-template
      />
      <Textarea {...field(`${path}.body`)} label="Body" placeholder={placeholders.body} autosize data-template />
      <TextInput
        {...field(`${path}.image_url`)}
        label="Image URL"
        description="Starts with https:// or http://"
        placeholder={placeholders.image_url}
        data-template
      />
      <TextInput
        {...field(`${path}.landing_url`)}
        label="Link"
        description="A web page or a deep link into your app"
        placeholder={placeholders.landing_url}
        data-template
      />
    </>
  )
}
