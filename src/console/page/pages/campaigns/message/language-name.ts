const names = new Intl.DisplayNames(undefined, { type: 'language', fallback: 'code' })

/** `German (de)`; the tag alone while it is not one. */
export function languageName(tag: string): string {
  try {
    const name = names.of(tag)
    return name && name !== tag ? `${name} (${tag})` : tag
  } catch {
    return tag
  }
}
