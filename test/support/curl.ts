// The part of curl that our printed lines use, for machines without curl: curl -X METHOD url -H header … -d body
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    X: { type: 'string', short: 'X' },
    H: { type: 'string', short: 'H', multiple: true },
    d: { type: 'string', short: 'd' }
  }
})
const headers = (values.H ?? []).map((header) => header.split(/: (.*)/s).slice(0, 2) as [string, string])
const reply = await fetch(positionals[0]!, { method: values.X ?? 'GET', headers, ...(values.d && { body: values.d }) })
process.stdout.write(await reply.text())
