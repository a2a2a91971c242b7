import type { Json, Reply } from './http.ts'
import type { Given, TestService } from './service.ts'

/** Hashes that take a millisecond. */
export const quick: Given = { passwordCost: { ln: 4, r: 8, p: 1 } }
export const goodPassword = 'correct horse battery'

/** The cookies of a response, as a browser would send them back. */
export const cookiesOf = ({ headers }: Reply): string =>
  [headers['set-cookie'] ?? []]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ')

export const codeOf = (link: { path: string }): string => link.path.slice(link.path.indexOf('=') + 1)

export interface TestMember {
  id: string
  email: string
  cookie: string
  /** Calls the management API as the page of the console does. */
  manage(method: string, path: string, json?: unknown): Promise<Reply>
}

export function memberOf(service: Pick<TestService, 'ask'>, id: string, email: string, cookie: string): TestMember {
  return {
    id,
    email,
    cookie,
    manage: (method, path, json) =>
      service.ask(method, `/manage/v1${path}`, {
        headers: { cookie, 'x-tidings-console': '1' },
        ...(json !== undefined && { json })
      })
  }
}

let number = 0

/** Invites a person, who accepts with a password. */
export async function join(
  service: TestService,
  role: string,
  projectId?: string,
  given: Json = {}
): Promise<TestMember> {
  const email = given.email ?? `person${++number}@example.com`
  const invited = await service.manage('POST', '/members', { json: { email, role, project_id: projectId ?? null } })
  if (invited.status !== 201) throw new Error(invited.text)
  const json = { code: codeOf(invited.json.invitation), name: given.name ?? 'Ada', password: goodPassword }
  const accepted = await service.ask('POST', '/console/link:accept', { json })
  if (accepted.status !== 200) throw new Error(accepted.text)
  return memberOf(service, invited.json.id, email, cookiesOf(accepted))
}

export const signIn = (service: Pick<TestService, 'ask'>, email: string, password: string, cookie?: string) =>
  service.ask('POST', '/console/session', { json: { email, password }, ...(cookie && { headers: { cookie } }) })
