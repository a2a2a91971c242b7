import type { Saved } from '../credentials/credential.ts'
import { createFaults, type Faults } from '../credentials/faults.ts'
import { fingerprintOf, readPrivateKey, toPem } from '../credentials/pem.ts'

/** The only address where service accounts are exchanged for tokens: a file cannot name another. */
export const googleTokenUri = 'https://oauth2.googleapis.com/token'

export interface FcmSecret {
  firebaseProject: string
  clientEmail: string
  privateKeyId: string
  privateKey: string
}

const path = 'service_account'
const rightFile =
  'it must be the file of a service account (Firebase console, Project settings, Service accounts, Generate new private key)'
const longest = 64_000

export function parseFcm(body: Record<string, unknown>): Saved<FcmSecret>[] {
  const faults = createFaults()
  const account = readAccount(body[path], faults)
  if (!account) {
    faults.refuse()
    return []
  }
  const at = (name: string) => `${path}.${name}`
  const firebaseProject = faults.text(
    account.project_id,
    at('project_id'),
    /^[a-z][a-z0-9.:-]{2,99}$/,
    'must be the id of the Firebase project'
  )
  const clientEmail = faults.text(
    account.client_email,
    at('client_email'),
    /^[a-z0-9._-]{1,100}@[a-z0-9.-]{1,130}\.gserviceaccount\.com$/i,
    'must be the address of a service account, which ends in gserviceaccount.com'
  )
  const privateKeyId = faults.text(
    account.private_key_id,
    at('private_key_id'),
    /^[0-9a-f]{8,128}$/i,
    'must be the hexadecimal id of the key'
  )
  faults.text(
    account.token_uri,
    at('token_uri'),
    new RegExp(`^${RegExp.escape(googleTokenUri)}$`),
    `must be ${googleTokenUri}`
  )
  const key = readPrivateKey(
    account.private_key,
    at('private_key'),
    'RS256',
    'the RSA key of the service account',
    faults
  )
  faults.refuse()
  return [
    {
      environment: '',
      app: '',
      secret: {
        firebaseProject: firebaseProject!,
        clientEmail: clientEmail!,
        privateKeyId: privateKeyId!,
        privateKey: toPem(key!)
      },
      facts: {
        firebase_project: firebaseProject!,
        client_email: clientEmail!,
        private_key_id: privateKeyId!,
        fingerprint: fingerprintOf(key!)
      }
    }
  ]
}

/** Reads the object, or the text of the file. The refusal names other files of Google. */
function readAccount(value: unknown, faults: Faults): Record<string, unknown> | undefined {
  if (value === undefined || value === null || value === '') return faults.add(path, `is missing; ${rightFile}`)
  if (typeof value === 'string' && value.length > longest)
    return faults.add(path, `is ${Math.round(value.length / 1_000)} KB long, and at most 64 KB is read; ${rightFile}`)
  const account = typeof value === 'string' ? parsed(value) : value
  if (account === undefined) return faults.add(path, `is not JSON; ${rightFile}`)
  if (typeof account !== 'object' || account === null || Array.isArray(account))
    return faults.add(path, `must be an object, or its text; ${rightFile}`)
  const { type, project_info, apiKey, installed, web } = account as Record<string, unknown>
  if (project_info !== undefined)
    return faults.add(path, `this is google-services.json, which belongs in the app; ${rightFile}`)
  if (apiKey !== undefined) return faults.add(path, `this is the configuration of a web app; ${rightFile}`)
  if (installed !== undefined || web !== undefined) return faults.add(path, `this is an OAuth client; ${rightFile}`)
  if (type !== 'service_account') faults.add(`${path}.type`, `must be service_account; ${rightFile}`)
  return account as Record<string, unknown>
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
