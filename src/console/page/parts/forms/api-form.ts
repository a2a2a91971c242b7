import { type FormErrors, type UseFormReturnType, useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { fieldError } from '../../api/errors.ts'
import { readStored, store, useStorageKey } from '../session-state.ts'

export type Form<Values> = UseFormReturnType<Values>

interface Options<Values, Result> {
  initialValues: Values
  send: (values: Values) => Promise<Result>
  onSuccess?: (result: Result, values: Values) => unknown
  /** Errors by field. By default an error belongs to the field of the same path. */
  errors?: (error: Error) => FormErrors
  /** Keeps what is typed until the browser tab closes, except for the fields of `omit`. */
  draft?: { name: string; omit?: (keyof Values)[] }
}

/** A form whose values are sent to the service, and whose fields show the errors that the service reports. */
export function useApiForm<Values extends object, Result>({
  initialValues,
  send,
  onSuccess,
  errors,
  draft
}: Options<Values, Result>) {
  const key = useStorageKey(draft?.name ?? '')
  const form = useForm<Values>({
    initialValues: { ...initialValues, ...(draft && readStored<Values>(key)) },
    onValuesChange: (values) => draft && store(key, without(values, draft.omit ?? []))
  })
  const sending = useMutation({
    mutationFn: send,
    onSuccess,
    onError: (error) => form.setErrors(errors ? errors(error) : errorsOf(error, form.getValues()))
  })
  return { form, sending, onSubmit: form.onSubmit((values) => sending.mutate(values)) }
}

const without = (values: object, names: PropertyKey[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))

export const errorsOf = (error: Error, values: object): FormErrors =>
  Object.fromEntries(fieldsOf(values).map((field) => [field, fieldError(error, field)]))

/** Paths of all fields: `name`, `limits.requests_per_second`. Arrays are the value of one field. */
const fieldsOf = (values: object, prefix = ''): string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? fieldsOf(value, `${prefix}${name}.`)
      : [prefix + name]
  )
