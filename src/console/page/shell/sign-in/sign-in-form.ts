import { type FormErrors, useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { errorsOf } from '../../parts/forms/api-form.ts'

interface Options<Values, Result> {
  initialValues: Values
  send: (values: Values) => Promise<Result>
  onSuccess: (result: Result) => unknown
  errors?: (error: Error) => FormErrors
}

/** Like `useApiForm`, which keeps drafts by project: before the sign-in there is no project, and nothing is kept. */
export function useSignInForm<Values extends object, Result>({
  initialValues,
  send,
  onSuccess,
  errors
}: Options<Values, Result>) {
  const form = useForm<Values>({ initialValues })
  const sending = useMutation({
    mutationFn: send,
    onSuccess,
    onError: (error) => form.setErrors(errors ? errors(error) : errorsOf(error, form.getValues()))
  })
  return { form, sending, onSubmit: form.onSubmit((values) => sending.mutate(values)) }
}
