import { errorCatalogue } from '../../errors.ts'
import { sharedAnswers } from './answers.ts'
import type { Schema } from './schema.ts'

const codes = Object.keys(errorCatalogue)
const header = (description: string, schema: Schema) => ({ description, schema })
const apiKey = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })

export const components = {
  securitySchemes: {
    projectId: apiKey('X-Service-Project-ID', 'The id of the project.'),
    apiKey: apiKey('X-Service-API-Key', 'A key of that project. Secret keys start with svc_sk_.'),
    agentKey: apiKey(
      'X-API-Key',
      'A secret key. The project is the one it belongs to. `Authorization: Bearer` takes it too.'
    ),
    managementToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'A management token. Those made by the service start with svc_at_.'
    }
  },
  schemas: {
    Problem: {
      type: 'object',
      properties: {
        error: { type: 'string', description: 'What was wrong, as a sentence. It may change.' },
        code: { type: 'string', enum: codes, description: 'What was wrong, as a word. It stays.' },
        details: {
          type: 'array',
          description: 'The fields that were wrong, at most 20.',
          items: {
            type: 'object',
            properties: { path: { type: 'string' }, message: { type: 'string' } },
            required: ['path', 'message']
          }
        }
      },
      required: ['error']
    } satisfies Schema
  },
  headers: {
    'X-Request-ID': header('The id of the request: your own where you sent a valid one, else a new one.', {
      type: 'string',
      maxLength: 128
    }),
    'X-RateLimit-Limit': header('Requests per second; 0: no limit.', { type: 'integer' }),
    'X-RateLimit-Remaining': header('Requests left.', { type: 'integer' }),
    'X-RateLimit-Reset': header('When all are there again, in Unix seconds.', { type: 'integer' }),
    'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 0 }),
    'X-Service-Error-Code': header('What was wrong, as a word.', { type: 'string', enum: codes }),
    'X-Service-Error-Detail': header('What was wrong, as one line of printable ASCII.', {
      type: 'string',
      maxLength: 500
    }),
    'WWW-Authenticate': header('Always Bearer.', { type: 'string', const: 'Bearer' })
  },
  responses: sharedAnswers
}
