import { errorCatalogue } from './errors.ts'

/** The page docs/reference/errors.md; a test compares. */
export function printErrorDocs(): string {
  const rows = Object.entries(errorCatalogue)
    .map(([code, [status, meaning]]) => ({ code, status, meaning }))
    .sort((one, two) => one.status - two.status)
    .map(({ code, status, meaning }) => `| ${status} | \`${code}\` | ${meaning} |`)
  return `# Errors

Every refusal has a code. The codes stay as they are; the sentences beside them may change.

- Most operations answer JSON: \`{"error": sentence, "code": code, "details": [{"path", "message"}]}\`. The details name
  the fields that were wrong, at most 20, and are absent where there are none.
- Where an operation answers a fixed text or an empty body, the code is in the header \`X-Service-Error-Code\`, and the
  header \`X-Service-Error-Detail\` says what was wrong in one line of printable ASCII,
  several faults with \`; \` between them.
- 401 on \`/api/v1\` is plain text: \`Missing project id\`, \`Missing API key\` or \`Invalid API key\`.
- 429 is \`{"error": "Too Many Requests"}\`, with its code in the same header. 500 is
  \`{"error": "Internal Server Error"}\` and an unknown path 404 \`{"error": "Not Found"}\`, both without a code.
- A connection that goes on regardless of 429 or 503 \`overloaded\` gets further refusals more slowly, up to a second later:
  come back after \`Retry-After\`.
- Every answer has an \`X-Request-ID\`. The log has the same id.

Checks run in this order: 401, 403, 429, then 400, 413 and 415, then 404 and 409. A project in the path of \`/manage/v1\` is
looked up first: out of reach, it is a 404 before anything else is judged.

| Status | Code | Meaning |
|---|---|---|
${rows.join('\n')}

This page is printed from \`src/platform/errors.ts\` by \`npm run docs\`.
`
}
