/** Markup that is safe to send. Only `html` makes it, and it escapes every other value. */
export interface Html {
  readonly markup: string
}

type Part = string | number | Html | undefined | false | readonly Part[]

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return { markup: texts.map((text, index) => text + (index < parts.length ? write(parts[index]) : '')).join('') }
}

/** For our own constants, such as a style sheet. */
export const trusted = (markup: string): Html => ({ markup })

function write(part: Part): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'string') return part.replace(/[&<>"']/g, (char) => entities[char]!)
  if (typeof part === 'number') return String(part)
  return 'markup' in part ? part.markup : part.map(write).join('')
}
