import { readConfig } from './platform/config.ts'
import { OperatorError } from './platform/errors.ts'

try {
  const { serve } = await import('./cli/serve.ts')
  process.exit(await serve(readConfig(process.env), 'all'))
} catch (error) {
  if (!(error instanceof OperatorError)) throw error
  console.error(error.message)
  process.exit(error.exitCode)
}
