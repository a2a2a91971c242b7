import type { UseFormReturnType } from '@mantine/form'
import { createContext, type RefObject, useContext } from 'react'
import type { CampaignDraft } from './draft.ts'
import { valueAt, withValue } from './paths.ts'
import type { FindError } from './segment/segment.ts'

/** The state that all parts of the editor share. */
interface EditorContext {
  form: UseFormReturnType<CampaignDraft>
  canEdit: boolean
  findError: FindError
  /** The next times of the schedule, once the service has read it. */
  nextAt?: string[] | undefined
  /** The open tab of each set of variants or languages, by its path. The preview shows the same. */
  tabs: Record<string, string>
  openTab: (path: string, tab: string) => void
  /** Fields that do not fit what is chosen now, so that choosing back loses nothing. */
  aside: RefObject<Record<string, unknown>>
}

const Context = createContext<EditorContext | null>(null)
export const EditorProvider = Context.Provider

export function useEditor() {
  const editor = useContext(Context)!
  const { form, canEdit, findError } = editor
  const read = <Value>(path: string) => valueAt(form.values, path) as Value | undefined
  /** Sets the field at a path of the campaign. A blank one is left out, as in a file. */
  const set = (path: string, next: unknown) => {
    const changed = withValue(form.getValues(), path, next === '' || next === null ? undefined : next)
    const top = /^\w+/.exec(path)![0]
    form.setValues({ [top]: (changed as Record<string, unknown>)[top] } as Partial<CampaignDraft>)
  }
  /** Props of the input for a path of the campaign. */
  const field = (path: string) => ({
    value: (read(path) ?? '') as string,
    onChange: (given: unknown) => set(path, typedValue(given)),
    error: findError(path),
    readOnly: !canEdit,
    'data-path': path
  })
  return { ...editor, read, set, field }
}

/** Remembers something beside the campaign while the editor is open, whichever step is shown. */
export function useAside<Value>(name: string, first: Value): { current: Value } {
  const { aside } = useContext(Context)!
  return {
    get current() {
      return (aside.current[name] ?? first) as Value
    },
    set current(value) {
      aside.current[name] = value
    }
  }
}

/** Text inputs give an event, selects and number inputs their value. */
const typedValue = (given: unknown) =>
  typeof given === 'object' && given !== null && 'currentTarget' in given
    ? (given as { currentTarget: HTMLInputElement }).currentTarget.value
    : given
