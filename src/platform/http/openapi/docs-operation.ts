import { http } from '../../net/node-http.ts'
import type { Answer, Content, Ref } from './answers.ts'
import { fieldsOf, fieldTable, jsonBlock, meaningOf, typeText } from './docs-schema.ts'
import { type Html, html } from './html.ts'
import type { OpenApi, Operation } from './openapi.ts'
import type { Schema } from './schema.ts'

export interface Placed {
  method: string
  path: string
  operation: Operation
}

export function operationArticle(document: OpenApi, placed: Placed): Html {
  const { method, path, operation } = placed
  const answers = Object.entries(operation.responses).map(([status, answer]) => ({
    status: Number(status),
    ...resolved(document, answer)
  }))
  const success = answers.find(({ status }) => status < 300)
  const { operationId: id, summary, description } = operation
  return html`<article id="${id}" aria-labelledby="${id}-title">
<header>
<h3 id="${id}-title"><a href="#${id}">${summary}</a></h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></p>
${description && html`<p class="access">${description}</p>`}
</header>
<div class="told">
${parameterTable(operation, 'path', 'Path')}
${parameterTable(operation, 'query', 'Query')}
${parameterTable(operation, 'header', 'Headers')}
${bodyTable(operation)}
${success && answerTable(success)}
${errorTable(answers.filter(({ status }) => status >= 400))}
</div>
<div class="shown">
<figure class="code"><figcaption>Request</figcaption><pre tabindex="0"><code>${curl(document, placed)}</code></pre></figure>
${success && exampleAnswer(success)}
</div>
</article>`
}

function resolved(document: OpenApi, answer: Answer | Ref): Answer {
  if (!('$ref' in answer)) return answer
  const name = answer.$ref.split('/').at(-1) as keyof OpenApi['components']['responses']
  return document.components.responses[name]
}

/** A path may break after its slashes, so that it does not widen the page on a phone. */
const breakable = (path: string): Html =>
  html`${path.split('/').map((step, index) => (index === 0 ? html`${step}` : html`/<wbr>${step}`))}`

function parameterTable({ parameters = [] }: Operation, place: string, caption: string): Html {
  const fields = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, schema, description }) => ({
      path: name,
      type: typeText(schema),
      required,
      meaning: meaningOf({ ...schema, ...(description && { description }) })
    }))
  return fieldTable(caption, fields, true)
}

function bodyTable({ requestBody }: Operation): Html {
  if (!requestBody) return html``
  const [type, { schema }] = Object.entries(requestBody.content)[0]!
  if (type !== 'application/json') return html`<h4>Body</h4><p><code>${type}</code>: one JSON object a line.</p>`
  return fieldTable(requestBody.required ? 'Body' : 'Body (optional)', fieldsOf(schema as Schema), true)
}

function answerTable({ status, content = {} }: Answer & { status: number }): Html {
  const [type, only] = Object.entries(content)[0] ?? []
  const title = `Answer ${status}`
  if (!type || !only) return html`<h4>${title}</h4><p>No body.</p>`
  if (type !== 'application/json') return html`<h4>${title}</h4><p><code>${type}</code></p>`
  const fields = fieldsOf(only.schema as Schema)
  return fields.length > 0 ? fieldTable(title, fields, false) : html`<h4>${title}</h4><p>An empty object.</p>`
}

function exampleAnswer({ status, content = {} }: Answer & { status: number }): Html {
  const example = Object.values(content)[0]?.example
  if (example === undefined) return html``
  return html`<figure class="code"><figcaption>Answer <span class="ok">${status} ${http.STATUS_CODES[status]}</span></figcaption>
<pre tabindex="0"><code>${jsonBlock(example)}</code></pre></figure>`
}

function errorTable(answers: (Answer & { status: number })[]): Html {
  if (answers.length === 0) return html``
  const rows = answers.map(
    ({ status, description, content }) => html`<tr><th scope="row">${status}</th>
<td>${description}</td><td>${errorBody(content)}</td></tr>`
  )
  return html`<details><summary>Errors <span class="statuses">${answers.map(({ status }) => html`<span>${status}</span> `)}</span></summary>
<table aria-label="Errors">
<thead><tr><th scope="col">Status</th><th scope="col">When</th><th scope="col">Body</th></tr></thead>
<tbody>${rows}</tbody></table></details>`
}

function errorBody(content: Record<string, Content> | undefined): Html {
  const [type, only] = Object.entries(content ?? {})[0] ?? []
  if (!type || !only) return html`<em>empty</em>`
  if (type === 'application/json') return html`<code>${spaced(only.example)}</code>`
  const { enum: texts, const: text } = only.schema as Schema
  return html`${(texts ?? [text]).map((one) => html`<code>${String(one)}</code> `)}`
}

/** JSON on one line that can break between its fields. */
const spaced = (value: unknown): string => JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ')

/** One line to paste into a shell, which the page breaks between its options. */
function curl(document: OpenApi, { method, path, operation }: Placed): Html {
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const example = operation.parameters?.find((parameter) => parameter.name === name)?.example
    return typeof example === 'string' && name !== 'project_id' ? encodeURIComponent(example) : `<${name}>`
  })
  const words = [
    method === 'get' ? 'curl' : `curl -X ${method.toUpperCase()}`,
    quoted(document.servers[0]!.url + place)
  ]
  const header = (line: string) => words.push(`-H ${quoted(line)}`)
  const [scheme] = operation.security
  if (scheme?.projectId) header('X-Service-Project-ID: <project_id>')
  if (scheme?.apiKey) header('X-Service-API-Key: <secret_key>')
  if (scheme?.agentKey) header('X-API-Key: <secret_key>')
  if (scheme?.managementToken) header('Authorization: Bearer <admin_token>')
  const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  if (type) header(`Content-Type: ${type}`)
  return html`${words.map((word, index) => html`${index > 0 && ' '}<span class="word">${word}</span>`)}${body && html` <span class="word">${sent(type!, body)}</span>`}`
}

function sent(type: string, { example }: Content): string {
  if (type === 'application/json') return `-d ${quoted(JSON.stringify(example))}`
  return `--data-binary ${typeof example === 'string' ? quoted(example.trimEnd()) : '@lines.ndjson'}`
}

/** Quotes the example for the shell: no text in it can end the quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
