import { KeyObject, webcrypto } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { X509Certificate } from '@peculiar/x509'
import { simulatedHost } from '../webpush/crypto.ts'

export interface Certificates {
  /** PEM of the authority that clients must trust. */
  ca: string
  /** PEM of the server's certificate and key. */
  cert: string
  /** PEM of an expired certificate with the same key, to test that senders refuse it. */
  expiredCert: string
  key: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000

/** Loads the library on demand: loading takes an eighth of a second, which most starts need not wait for. */
const load = () => import('@peculiar/x509')

interface Authority {
  certificate: X509Certificate
  privateKey: webcrypto.CryptoKey
}

/** With a folder, the authority stays there, so that clients trust the next start too. */
export async function makeCertificates(options: { host: string; folder?: string | undefined }): Promise<Certificates> {
  const x509 = await load()
  const authority = (options.folder && (await readAuthority(options.folder))) || (await makeAuthority(options.folder))
  const pair = await makePair()
  const today = Date.now()
  const until = (notAfter: Date) =>
    x509.X509CertificateGenerator.create({
      subject: 'CN=Tidings simulator',
      issuer: authority.certificate.subject,
      notBefore: new Date(today - 2 * dayMs),
      notAfter,
      publicKey: pair.publicKey,
      signingKey: authority.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(
          [...new Set(['localhost', '127.0.0.1', '::1', simulatedHost, options.host])].map((value) => ({
            type: isIP(value) ? ('ip' as const) : ('dns' as const),
            value
          }))
        )
      ]
    })
  return {
    ca: authority.certificate.toString('pem'),
    cert: (await until(new Date(today + 365 * dayMs))).toString('pem'),
    expiredCert: (await until(new Date(today - dayMs))).toString('pem'),
    key: privatePem(pair.privateKey)
  }
}

async function makeAuthority(folder: string | undefined): Promise<Authority> {
  const x509 = await load()
  const pair = await makePair()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Tidings simulator authority',
    notBefore: new Date(Date.now() - 2 * dayMs),
    notAfter: new Date(Date.now() + 3650 * dayMs),
    keys: pair,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true)
    ]
  })
  if (folder) {
    await writeFile(join(folder, 'ca-key.pem'), privatePem(pair.privateKey), { mode: 0o600 })
    await writeFile(join(folder, 'ca.pem'), `${certificate.toString('pem')}\n`, { mode: 0o600 })
  }
  return { certificate, privateKey: pair.privateKey }
}

async function readAuthority(folder: string): Promise<Authority | undefined> {
  const read = (name: string) => readFile(join(folder, name), 'utf8').catch(() => undefined)
  const [certificate, key] = await Promise.all([read('ca.pem'), read('ca-key.pem')])
  if (!certificate || !key) return undefined
  const x509 = await load()
  const der = x509.PemConverter.decodeFirst(key)
  const privateKey = await webcrypto.subtle.importKey('pkcs8', der, algorithm, true, ['sign'])
  return { certificate: new x509.X509Certificate(certificate), privateKey }
}

const makePair = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

const privatePem = (key: webcrypto.CryptoKey) => KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString()
