import 'virtual:used-styles'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/errors.ts'
import { loadWhenIdle } from './load-page.ts'
import { Toasts } from './parts/toasts.tsx'
import { loads, router } from './router.tsx'
import { SignedIn } from './shell/sign-in.tsx'
import { readable, theme } from './theme.ts'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The service would reject the same request again. Outages and 5xx may pass.
      retry: (count, error) => !(error instanceof ApiError && error.status >= 400 && error.status < 500) && count < 5,
      retryDelay: (count) => Math.min(500 * 2 ** count, 5_000),
      staleTime: 2_000,
      networkMode: 'always'
    }
  }
})

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={readable} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <SignedIn>
          <RouterProvider router={router} />
        </SignedIn>
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
)

loadWhenIdle(
  loads,
  () => queries.isFetching() > 0 || router.state.status === 'pending' || !queries.getQueryData(['projects'])
)
