import type { Done } from './done.ts'
import { FirstAccount } from './first-account.tsx'
import { LinkPage } from './link-page.tsx'
import { SignInPage } from './sign-in-page.tsx'

/** What a browser without a session sees, and one that opens a link for a person. In one file that is loaded on demand. */
export function SignInPages({
  link,
  problem,
  first,
  done,
  leave
}: {
  link: string | undefined
  problem: string | undefined
  first: boolean
  done: Done
  leave: () => void
}) {
  if (link !== undefined) return <LinkPage code={link} done={done} leave={leave} />
  if (first) return <FirstAccount done={done} skip={leave} />
  return <SignInPage done={done} problem={problem} />
}
