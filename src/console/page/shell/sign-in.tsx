import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { browser } from '../api/client.ts'
import { type Identity, ownerOf, useIdentity } from '../api/session.ts'
import { claimStorage, readStored, store } from '../parts/session-state.ts'
import { ErrorAlert, Loading } from '../parts/states.tsx'

/** Loaded on demand: a browser that is signed in needs no forms for its first page. */
const SignInPages = lazy(() =>
  import('./sign-in/sign-in-pages.tsx').then(({ SignInPages }) => ({ default: SignInPages }))
)

interface Opened {
  /** Signs in at once: the link of a start. */
  code?: string
  /** Belongs to a person: an invitation, or a link that sets a new password. */
  link?: string
  /** Why a sign-in at the provider has failed. */
  problem?: string
}

/** A link carries its code behind the #, which browsers do not send to servers and logs. */
function takeLink(): Opened {
  const given = new URLSearchParams(location.hash.slice(1))
  const taken = (name: string) => given.get(name) ?? undefined
  const [code, link, problem] = [taken('code'), taken('invitation') ?? taken('reset'), taken('problem')]
  if (code ?? link ?? problem) history.replaceState(null, '', location.pathname + location.search)
  return { ...(code && { code }), ...(link && { link }), ...(problem && { problem }) }
}

/** Who skipped the offer of an account in this tab. A reload does not repeat the offer. */
const skippedKey = 'tidings-account-skipped'

/** Shows the console to a signed-in browser, and the sign-in form to others. */
export function SignedIn({ children }: { children: ReactNode }) {
  const [opened, setOpened] = useState(takeLink)
  const [skipped, setSkipped] = useState(false)
  const identity = useIdentity()
  const queries = useQueryClient()
  const done = (known: Identity) => {
    // Nothing that another account has loaded stays.
    queries.clear()
    queries.setQueryData(['identity'], known)
    setOpened({})
  }
  const redeem = useMutation({
    mutationFn: (code: string) => browser<Identity>('POST', '/console/session', { code }),
    onSuccess: (known) => queries.setQueryData(['identity'], known)
  })
  const { mutate } = redeem
  useEffect(() => {
    if (opened.code) mutate(opened.code)
  }, [opened.code, mutate])
  useEffect(() => {
    const forget = () => void queries.resetQueries({ queryKey: ['identity'] })
    window.addEventListener('signed-out', forget)
    return () => window.removeEventListener('signed-out', forget)
  }, [queries])

  if (identity.error) return <ErrorAlert error={identity.error} retry={identity.refetch} />
  if (identity.isPending || redeem.isPending) return <Loading label="Signing in" />
  const known = identity.data
  // Only after a link: a token may belong to a program.
  const offers = known?.first_member === true && known.how === 'link'
  const first = offers && !skipped && readStored(skippedKey) !== ownerOf(known)
  if (known && !opened.link && !first) {
    claimStorage(ownerOf(known))
    return children
  }
  const leave = () => {
    if (opened.link) return setOpened({})
    setSkipped(true)
    if (!known) return
    claimStorage(ownerOf(known))
    store(skippedKey, ownerOf(known))
  }
  return (
    <Suspense fallback={<Loading />}>
      {redeem.error && <ErrorAlert error={redeem.error} />}
      <SignInPages link={opened.link} problem={opened.problem} first={first} done={done} leave={leave} />
    </Suspense>
  )
}
