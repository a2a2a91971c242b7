import { errorCatalogue } from './errors.ts'

/** Prints docs/reference/errors.md; a test compares the two. */
export function printErrorDocs(): string {
  const rows = Object.entries(errorCatalogue)
    .map(([code, [status, meaning]]) => ({ code, status, meaning }))
    .sort((one, two) => one.status - two.status)
    .map(({ code, status, meaning }) => `| ${status} | \`${code}\` | ${meaning} |`)
  return `# Errors

Every refusal has a code. Codes are stable; the sentences beside them may change. A refusal in full:

\`\`\`json
{"error": "…", "code": "invalid_parameter", "details": [{"path": "limit", "message": "…"}]}
\`\`\`

| Response | Where the code is |
|---|---|
| JSON | in \`code\`. \`error\` is a sentence, and \`details\` names the wrong fields (at most 20; absent if there are none) |
| a fixed text, or an empty body | in the header \`X-Service-Error-Code\`. \`X-Service-Error-Detail\` has the faults in one line of printable ASCII, separated by \`; \`, and \`; and more\` after those that have room |
| 401 on \`/api/v1\` | in the same header. The body is \`Missing project id\`, \`Missing API key\` or \`Invalid API key\`, as plain text |
| 400, 406 and 415 on \`/mcp\` | there is none. The body is an error of JSON-RPC: \`{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "…"}}\` |
| 429 | in the same header. The body is \`{"error": "Too Many Requests"}\` |
| 404 of an unknown path, 500 | there is none. After a typing error \`X-Service-Error-Detail\` names the path that is meant. The body is \`{"error": "Not Found"}\` or \`{"error": "Internal Server Error"}\` |

- **Order of checks.** 401, 403, 429, then 400, 413 and 415, then 404 and 409. On \`/manage/v1\` the project in the path is
  looked up first: a project that the token cannot see is a 404 before any other check.
- **Retrying.** Wait for \`Retry-After\`. A connection that ignores 429 or 503 \`overloaded\` gets further refusals more
  slowly, up to a second later.
- **Request id.** Every response has an \`X-Request-ID\`. The log has the same id.

| Status | Code | Meaning |
|---|---|---|
${rows.join('\n')}

\`npm run docs\` prints this page from \`src/platform/errors.ts\`.
`
}
