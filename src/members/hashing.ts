import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { refusing } from '../platform/fields.ts'
import { createTurns } from './turns.ts'

/** The cost of a hash: 2^ln blocks of 128 · r bytes, p times. */
export interface Cost {
  ln: number
  r: number
  p: number
}

/** 32 MiB and about a third of a second; one of the settings that OWASP names for scrypt. */
const usualCost: Cost = { ln: 15, r: 8, p: 3 }
const bytes = 32
/** Hashes run in Node's pool of four threads; half of it, and one core, stay free for everything else. */
const slots = Math.max(1, Math.min(2, availableParallelism() - 1))

type Derive = (password: string, salt: Buffer, bytes: number, options: ScryptOptions) => Promise<Buffer>

/** Characters of a new password. There are no rules about their kinds: they make passwords worse. */
export const shortest = 12
/** Characters of any password that is read. */
export const longest = 512

/** The same password typed on two machines is the same text: RFC 8265, OpaqueString. */
const canonical = (password: string) => password.replace(/\p{Zs}/gu, ' ').normalize('NFC')

export function checkNew(password: string, path = 'password'): void {
  if ([...canonical(password)].length < shortest)
    throw refusing('invalid_parameter')(path, `must have at least ${shortest} characters`)
}

export type Hashing = ReturnType<typeof createHashing>

/**
 * Makes and checks hashes of passwords, outside the event loop and a few at a time: many sign-ins wait for each other, and
 * nothing else waits for them.
 */
export function createHashing(cost: Cost = usualCost, derive: Derive = promisify(scrypt) as Derive) {
  const turns = createTurns(slots)

  const hashOf = (password: string, salt: Buffer, { ln, r, p }: Cost) =>
    derive(canonical(password), salt, bytes, { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r })

  return {
    /** Returns a text with the parameters in it. `from`: the address whose turn it is. */
    hash: (password: string, from: string): Promise<string> =>
      turns.take(from, async () => {
        const salt = randomBytes(16)
        const hash = await hashOf(password, salt, cost)
        const { ln, r, p } = cost
        return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`
      }),
    /**
     * Whether a password belongs to the hash that `find` returns. An account without a password, and one that does not
     * exist, cost the same work as a wrong password. `isKnown`: `from` is a member in a browser of its own.
     */
    verify: <Account extends { password: string | null }>(
      password: string,
      from: string,
      find: () => Promise<Account | undefined>,
      isKnown = false
    ): Promise<Account | undefined> => {
      const check = async () => {
        const account = await find()
        const known = parse(account?.password)
        const hash = await hashOf(password, known?.salt ?? randomBytes(16), known?.cost ?? cost)
        return known && timingSafeEqual(hash, known.hash) ? account : undefined
      }
      return turns.take(from, check, isKnown)
    },
    /** Whether a hash was made with other parameters than those of today. */
    isOutdated(stored: string): boolean {
      const known = parse(stored)?.cost
      return known?.ln !== cost.ln || known.r !== cost.r || known.p !== cost.p
    }
  }
}

function parse(stored: string | null | undefined) {
  const [, ln, r, p, salt, hash] = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/.exec(stored ?? '') ?? []
  if (!hash) return undefined
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt!, 'base64url'),
    hash: Buffer.from(hash, 'base64url')
  }
}
