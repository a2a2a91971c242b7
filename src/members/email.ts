import { domainToASCII } from 'node:url'
import { refusing } from '../platform/fields.ts'

/** An address as people read it, and the same address for comparisons. */
export interface Email {
  shown: string
  key: string
}

/** RFC 5321. */
const longest = 254

/**
 * Reads an address; undefined if the text is none. Two spellings of one address have the same key: letters in either case,
 * accents composed or not, and the domain in Unicode or punycode. Characters that only look like others (ﬁ, ａ, ①) are
 * refused: an address must not be mistaken for another one.
 */
export function readEmail(text: string): Email | undefined {
  const shown = text.trim().normalize('NFC')
  const [local = '', domain = '', ...more] = shown.split('@')
  if (more.length > 0 || shown.length > longest || !shown.isWellFormed() || shown.normalize('NFKC') !== shown)
    return undefined
  if (/[\s\p{C}\p{Default_Ignorable_Code_Point}]/u.test(shown)) return undefined
  // A domain is read as that of an address of the web, which would end at a / ? or # and decode %65.
  if (!/^[^"(),:;<>[\\\]]+$/.test(local) || !/^[^/?#%:<>[\\\]]+$/.test(domain)) return undefined
  const host = domainToASCII(domain)
  return host ? { shown, key: `${local.toLowerCase()}@${host.toLowerCase()}` } : undefined
}

export function checkEmail(text: string): Email {
  const email = readEmail(text)
  if (!email) throw refusing('invalid_parameter')('email', 'must be an email address such as ada@example.com')
  return email
}
