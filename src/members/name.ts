import { refusing } from '../platform/fields.ts'

/** The name without spaces around it. It must have a character that can be seen: lists show people by their names. */
export function checkName(text = ''): string {
  const name = text.trim()
  if (/^[\s\p{C}\p{Default_Ignorable_Code_Point}]*$/u.test(name))
    throw refusing('invalid_parameter')('name', 'must have a visible character')
  return name
}
