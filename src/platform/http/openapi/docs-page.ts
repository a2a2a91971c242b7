import { docsScript, docsStyle } from './docs-assets.ts'
import { operationArticle, type Placed } from './docs-operation.ts'
import { type Html, html, trusted } from './html.ts'
import type { OpenApi } from './openapi.ts'

/** The API as one page that loads nothing else and is readable without scripts. */
export function renderDocsPage(document: OpenApi): string {
  const placed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Placed => ({ method, path, operation }))
  )
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    id: `tag-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    operations: placed.filter(({ operation }) => operation.tags[0] === name)
  }))
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${document.info.title} API ${document.info.version}</title>
<link rel="icon" href="${icon}">
<style>${trusted(docsStyle)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="page">
<nav aria-label="Contents">
<p class="brand"><a href="#content">${document.info.title}</a> <span>API ${document.info.version}</span></p>
<details class="contents" open><summary>Contents</summary>
<ul><li><a href="#introduction">Introduction</a></li></ul>
${groups.map(
  ({ name, id, operations }) => html`<h2><a href="#${id}">${name}</a></h2>
<ul>${operations.map(navigationLine)}</ul>`
)}
</details>
</nav>
<main id="content" tabindex="-1">
${introduction(document)}
${groups.map(
  ({ name, id, description, operations }) => html`<section aria-labelledby="${id}">
<h2 id="${id}">${name}</h2>
${description && html`<p class="lead">${description}</p>`}
${operations.map((one) => operationArticle(document, one))}
</section>`
)}
<footer><p>${document.info.title} ${document.info.version}. The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI ${document.openapi}).</p></footer>
</main>
</div>
<script>${trusted(docsScript)}</script>
</body>
</html>
`.markup
}

const navigationLine = ({ method, operation }: Placed): Html =>
  html`<li><a href="#${operation.operationId}"><span class="method ${method}">${method === 'delete' ? 'DEL' : method.toUpperCase()}</span> <span>${operation.summary}</span></a></li>`

const icon =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E%3Crect width=%2216%22 height=%2216%22 rx=%224%22 fill=%22%230b6e5f%22/%3E%3Cpath d=%22M4 5h8M8 5v7%22 stroke=%22white%22 stroke-width=%222%22/%3E%3C/svg%3E'

function introduction({ info, servers }: OpenApi): Html {
  return html`<section class="intro" aria-labelledby="introduction">
<h1 id="introduction">${info.title} API</h1>
<p class="lead">${info.summary} This installation answers at <code>${servers[0]!.url}</code>.</p>
<div class="cards">
<div><h2>Authentication</h2>
<p><code>/api/v1</code> takes two headers: <code>X-Service-Project-ID</code> and <code>X-Service-API-Key</code>, with a secret key <code>svc_sk_…</code> that stays on your servers. <code>/manage/v1</code> takes <code>Authorization: Bearer</code> with a management token <code>svc_at_…</code> of the role admin, editor or viewer. With such a token, everything below <code>/api/v1</code> is also at <code>/manage/v1/projects/&lt;project_id&gt;/api/v1</code>.</p></div>
<div><h2>Errors</h2>
<p>Most errors are JSON: <code>error</code> is a sentence, <code>code</code> a word that stays the same, <code>details</code> names the fields. Where an operation answers a fixed text, the headers <code>X-Service-Error-Code</code> and <code>X-Service-Error-Detail</code> say what was wrong. An unknown path is 404, a wrong method 405 with <code>Allow</code>, a fault of the service 500.</p></div>
<div><h2>Limits</h2>
<p>Requests are counted per project and second; <code>X-RateLimit-Limit</code>, <code>-Remaining</code> and <code>-Reset</code> come with every authenticated answer. On 429 and 503, wait as many seconds as <code>Retry-After</code> says, then send the same again. A body has at most 10 MiB, a request at most 100 seconds.</p></div>
<div><h2>Ids and lists</h2>
<p>You choose the ids of your users; the service makes its own as UUIDs. Percent-encode an id in a path. Every answer has an <code>X-Request-ID</code>: send your own, or quote ours when you ask for help. Lists take <code>limit</code> (1 to 200) and <code>cursor</code>, newest first. Times are RFC 3339 in UTC. Unknown fields are ignored.</p></div>
</div>
</section>`
}
