import { hash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { printDocsLinks } from '../../platform/docs/docs-llms.ts'
import { docsSite } from '../../platform/docs/docs-routes.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Routes } from '../../platform/http/routes.ts'
import { printLlms } from './llms.ts'
import { type Action, listActions } from './registry.ts'

const dialect = 'https://json-schema.org/draft/2020-12/schema'

const Listed = Type.Object({
  skills: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Type.String(),
      effect: Type.String({ description: 'read, write, send (reaches people) or stop.' }),
      artifact: Type.String({ description: 'The name of its artifact.' }),
      rest: Type.Array(Type.String(), { description: 'The routes of /api/v1 that do the same.' }),
      example: Type.Unsafe<object>({ type: 'object', description: 'Data that asks for it.' }),
      examples: Type.Array(Type.String(), { description: 'Texts that ask for it.' }),
      input: Type.Unsafe<object>({ type: 'object', description: 'The JSON Schema of its data.' }),
      output: Type.Unsafe<object>({ type: 'object', description: "The JSON Schema of its artifact's data." })
    })
  )
})
const Schema = Type.Object({
  $schema: Type.Literal(dialect, { description: 'The version of JSON Schema.' }),
  title: Type.String()
})

/** The registry of actions for programs: public, because it is the same for every project. */
export function registryRoutes(open: Routes<null, never>, baseUrlOf: (request: FastifyRequest) => string): void {
  const actions = listActions()
  const whole = JSON.stringify({ skills: actions })
  const documents = new Map(actions.flatMap(documentsOf))

  open.get(
    '/a2a/schemas',
    { summary: 'List the skills of agents with their schemas', answer: Listed },
    ({ request, reply }) => cached(request, reply.type('application/json; charset=utf-8'), whole)
  )

  open.get(
    '/a2a/schemas/:document',
    {
      summary: "Get the JSON Schema of a skill's input or output",
      params: { document: 'The skill and the side: create-user.input.json, create-user.output.json.' },
      answer: Schema,
      refusals: ['not_found']
    },
    ({ request, reply, params: { document } }) => {
      const found = documents.get(document!)
      if (found === undefined) throw new Refusal('not_found', 'There is no schema of this name.')
      return cached(request, reply.type('application/schema+json; charset=utf-8'), found)
    }
  )

  open.get(
    '/llms.txt',
    { summary: 'This service in short, for language models', answerType: 'text/plain' },
    async ({ request, reply }) => {
      const baseUrl = baseUrlOf(request)
      const docs = printDocsLinks((await docsSite()).nav, `${baseUrl}/docs/`)
      return cached(request, reply.type('text/plain; charset=utf-8'), printLlms(actions, baseUrl, docs))
    }
  )
}

const documentsOf = ({ id, name, input, output }: Action): [string, string][] => [
  [`${id}.input.json`, JSON.stringify({ $schema: dialect, title: `${name}: data`, ...input })],
  [`${id}.output.json`, JSON.stringify({ $schema: dialect, title: `${name}: result`, ...output })]
]

function cached(request: FastifyRequest, reply: FastifyReply, body: string): FastifyReply {
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
  reply.headers({ etag, 'cache-control': 'public, max-age=300', vary: 'Host' })
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(body)
}
