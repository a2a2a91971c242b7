import { detailsIn } from '../../../client/details.ts'

/** A failed request. `status` is 0 if the service could not be reached. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: { path: string; message: string }[]

  constructor(status: number, message: string, code = '', details: ApiError['details'] = []) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }

  /** The errors about fields. Some name them only in their message: `title: must not be empty`. */
  get fields(): ApiError['details'] {
    return this.details.length > 0 ? this.details : detailsIn(this.message)
  }
}

/**
 * The errors about one field, joined. Errors about a value inside the field start with its path there, unless `only`
 * leaves them out.
 */
export function fieldError(error: Error | null | undefined, path: string, only = false): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const found = error.fields.filter(
    (detail) =>
      detail.path === path || (!only && (detail.path.startsWith(`${path}.`) || detail.path.startsWith(`${path}[`)))
  )
  const place = (inside: string) => inside.slice(path.length).replace(/^\./, '')
  const messages = found.map(({ path: at, message }) => (at === path ? message : `${place(at)}: ${message}`))
  return messages.join(' · ') || undefined
}

/** For forms with a single field: the error about the field, or else any error. */
export const fieldOrFormError = (error: Error | null | undefined, path: string): string | undefined =>
  fieldError(error, path) ?? error?.message

/** The message of a conflict. It means that the ID is taken, so the form shows it at the ID field. */
export const conflictError = (error: Error | null | undefined): string | undefined =>
  error instanceof ApiError && error.code === 'conflict' ? error.message : undefined
