/** What the provider says about a person. */
export interface Claims {
  issuer: string
  subject: string
  name: string | null
  email: string | null
  /** Whether the provider has checked that the address belongs to the person. */
  emailVerified: boolean
  groups: string[]
}

type Said = Readonly<Record<string, unknown>>

const longestName = 200
const longestEmail = 254
const mostGroups = 2_000

/** Reads the claims of the id token, and of the user info where the token lacks them. */
export function readClaims(
  { issuer, groupsClaim }: { issuer: string; groupsClaim: string },
  token: Said & { sub: string },
  more: Said = {}
): Claims {
  const textOf = (name: string) => [token[name], more[name]].find((value) => typeof value === 'string' && value !== '')
  // Both from one place: the mark of one must not vouch for the address of the other.
  const source = typeof token.email === 'string' ? token : more
  const email = typeof source.email === 'string' && source.email.length <= longestEmail ? source.email : null
  const name = (textOf('name') ?? textOf('preferred_username') ?? email) as string | null
  return {
    issuer,
    subject: token.sub,
    name: name?.slice(0, longestName) ?? null,
    email,
    emailVerified: email !== null && source.email_verified === true,
    groups: groupsOf(token[groupsClaim] ?? more[groupsClaim])
  }
}

/** A list of names, or one name. */
const groupsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string').slice(0, mostGroups)
