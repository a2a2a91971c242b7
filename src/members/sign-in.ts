import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { networkOf } from '../projects/projects.ts'
import { createAllowances } from './allowances.ts'
import type { Browsers } from './browser.ts'
import { readEmail } from './email.ts'
import type { Hashing } from './hashing.ts'
import * as store from './store.ts'

export interface SignInNeeds {
  pool: Pool
  browsers: Pick<Browsers, 'deviceOf'>
  hashing: Hashing
  /** The number of nodes that serve requests, which share the limits. */
  serving: () => number
  /** Hears of a member whose account strangers may try no more, once an hour. */
  onLocked: (memberId: string) => Promise<void>
}

export type PasswordCheck = ReturnType<typeof createPasswordCheck>

/** The same for an unknown address, a wrong password and a member without one. */
const wrong = () => new Refusal('invalid_sign_in', 'Email and password do not match.')

/**
 * Checks passwords, with limits on failures. Strangers are limited by address and by account. A browser in which the member
 * has signed in before has a limit of its own, so that strangers who guess cannot keep the right person out
 * (docs/decisions/0050).
 */
export function createPasswordCheck({ pool, browsers, hashing, serving, onLocked }: SignInNeeds) {
  const addresses = createAllowances(20, 6, serving)
  const accounts = createAllowances(20, 60, serving)
  const devices = createAllowances(10, 30, serving)
  const reports = createAllowances(1, 3_600)

  /** Nothing waits for it: the response takes as long for an account that does not exist. */
  async function report(key: string): Promise<void> {
    const member = await store.findByEmail(pool, key)
    if (member?.joined_at) await onLocked(member.id)
  }

  /**
   * Takes an attempt, before the work: attempts at the same time count too. Returns how to give it back, and whether it was
   * one of a known browser.
   */
  function spend(request: FastifyRequest, reply: FastifyReply, key: string) {
    const device = browsers.deviceOf(request, key)
    if (device && devices.take(device) === 0) return { isKnown: true, giveBack: () => devices.giveBack(device) }
    const [address, account] = [networkOf(request.ip), hash('sha256', key, 'base64')]
    const waitOfAddress = addresses.take(address)
    const wait = waitOfAddress || accounts.take(account)
    if (wait === 0)
      return {
        isKnown: false,
        giveBack: () => {
          addresses.giveBack(address)
          accounts.giveBack(account)
        }
      }
    if (waitOfAddress === 0 && reports.take(account) === 0) report(key).catch(() => {})
    reply.header('retry-after', wait)
    throw new Refusal('rate_limited', `Too many failed sign-ins. Try again in ${wait} seconds.`)
  }

  /** Returns the member of this address and password; refuses everything else in the same words. */
  return async function check(request: FastifyRequest, reply: FastifyReply, email: string, password: string) {
    const key = readEmail(email)?.key ?? email.slice(0, 320)
    const { isKnown, giveBack } = spend(request, reply, key)
    const from = networkOf(request.ip)
    const find = () => store.findByEmail(pool, key)
    const member = await hashing.verify(password, isKnown ? key : from, find, isKnown).catch((error: Error) => {
      giveBack()
      if (error instanceof Refusal) reply.header('retry-after', 5)
      throw error
    })
    if (!member?.joined_at) throw wrong()
    giveBack()
    if (hashing.isOutdated(member.password!)) await rehash(member, password, from)
    return member
  }

  async function rehash(
    member: { id: string; password: string | null },
    password: string,
    from: string
  ): Promise<void> {
    await store.replacePassword(pool, member.id, member.password!, await hashing.hash(password, from))
  }
}
