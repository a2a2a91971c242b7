import { type Html, html } from './html.ts'
import type { Schema } from './schema.ts'

interface Field {
  path: string
  type: string
  required: boolean
  meaning: string
}

/** Every field of a schema, those of objects inside it by their path: limits.requests_per_second, items[].id. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, inner]) => {
    const path = prefix + name
    const own = { path, type: typeText(inner), required: required.includes(name), meaning: meaningOf(inner) }
    return [own, ...fieldsOf(inner, `${path}.`), ...(inner.items ? itemFields(inner.items, `${path}[].`) : [])]
  })
}

/** If an entry may have several forms, the fields of all of them; none of these is required. */
function itemFields(items: Schema, prefix: string): Field[] {
  if (!items.anyOf) return fieldsOf(items, prefix)
  const all = items.anyOf.flatMap((choice) => fieldsOf(choice, prefix))
  const byPath = new Map(all.map((field) => [field.path, { ...field, required: false }]))
  return [...byPath.values()]
}

export function typeText(schema: Schema): string {
  if (schema.enum) return either(schema.enum.map((value) => JSON.stringify(value)))
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.anyOf) return either([...new Set(schema.anyOf.map(typeText))])
  if (schema.type === 'array') {
    const inner = typeText(schema.items ?? {})
    return inner === 'any' ? 'array' : `array of ${inner}`
  }
  if (schema.format === 'date-time') return [schema.type].flat().includes('null') ? 'time or null' : 'time'
  if (schema.type === undefined) return 'any'
  return either([schema.type].flat())
}

const either = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

/** The description with the rules that it does not mention. */
export function meaningOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, maxItems } = schema as Record<string, number | undefined>
  const rules: string[] = []
  const values = schema.additionalProperties
  if (typeof values === 'object' && values.type) rules.push(`Values: ${typeText(values)}.`)
  if (minimum !== undefined && maximum !== undefined) rules.push(`${count(minimum)} to ${count(maximum)}.`)
  const about = schema.description ?? ''
  // Most descriptions of text name its length themselves.
  if (maxLength !== undefined && !about.includes(count(maxLength)))
    rules.push(
      minLength ? `${count(minLength)} to ${count(maxLength)} characters.` : `At most ${count(maxLength)} characters.`
    )
  if (maxItems !== undefined) rules.push(`At most ${count(maxItems)}.`)
  if (schema.default !== undefined) rules.push(`Default ${JSON.stringify(schema.default)}.`)
  return [about, ...rules].filter(Boolean).join(' ')
}

const count = (value: number): string => value.toLocaleString('en-US')

export function fieldTable(caption: string, fields: Field[], sent: boolean): Html {
  if (fields.length === 0) return html``
  const rows = fields.map(
    ({ path, type, required, meaning }) => html`<tr>
<th scope="row"><code>${path}</code> <span class="type">${type}${sent && required && html` <span class="must">required</span>`}</span></th>
<td>${meaning}</td></tr>`
  )
  return html`<h4>${caption}</h4>
<table aria-label="${caption}">
<thead><tr><th scope="col">Name and type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows}</tbody></table>`
}

/** JSON with its parts marked for colour. */
export function jsonBlock(value: unknown): Html {
  const text = JSON.stringify(value, null, 2)
  const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
  const parts: Html[] = []
  let end = 0
  for (const match of text.matchAll(token)) {
    const [whole, string, colon] = match
    const kind = string === undefined ? 'lit' : colon === undefined ? 'str' : 'key'
    parts.push(html`${text.slice(end, match.index)}<span class="${kind}">${string ?? whole}</span>${colon}`)
    end = match.index + whole.length
  }
  return html`${parts}${text.slice(end)}`
}
