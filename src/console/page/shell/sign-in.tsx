import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { session } from '../api/client.ts'
import { type Identity, ownerOf, useIdentity } from '../api/session.ts'
import { claimStorage } from '../parts/session-state.ts'
import { ErrorAlert, Loading } from '../parts/states.tsx'

/** Loaded on demand: a browser that is signed in, or opens a sign-in link, needs no form library for its first page. */
const SignInForm = lazy(() => import('./sign-in-form.tsx').then(({ SignInForm }) => ({ default: SignInForm })))

/** The sign-in link carries its code behind the #, which browsers do not send to servers and logs. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined
  if (code) history.replaceState(null, '', location.pathname + location.search)
  return code
}

/** Shows the console to a signed-in browser, and the sign-in form to others. */
export function SignedIn({ children }: { children: ReactNode }) {
  const [code] = useState(takeCode)
  const identity = useIdentity()
  const queries = useQueryClient()
  const signIn = useMutation({
    mutationFn: (proof: { token: string } | { code: string }) => session<Identity>('POST', proof),
    onSuccess: (known) => queries.setQueryData(['identity'], known)
  })
  const { mutate } = signIn
  useEffect(() => {
    if (code) mutate({ code })
  }, [code, mutate])
  useEffect(() => {
    const forget = () => void queries.resetQueries({ queryKey: ['identity'] })
    window.addEventListener('signed-out', forget)
    return () => window.removeEventListener('signed-out', forget)
  }, [queries])

  if (identity.data) {
    claimStorage(ownerOf(identity.data))
    return children
  }
  if (identity.error) return <ErrorAlert error={identity.error} retry={identity.refetch} />
  if (identity.isPending || signIn.isPending) return <Loading label="Signing in" />
  return (
    <Suspense fallback={<Loading />}>
      <SignInForm signIn={(token) => mutate({ token })} error={signIn.error?.message} />
    </Suspense>
  )
}
