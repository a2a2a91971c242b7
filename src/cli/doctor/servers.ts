import { type Host, readHosts } from '../../platform/db/hosts/hosts.ts'
import { choosePrimary } from '../../platform/db/hosts/servers.ts'
import { type Facts, lookAt } from '../../platform/db/hosts/watch.ts'
import { type Finding, fail, ok, warn } from './check.ts'

/** The servers of an address with several hosts, and the one that takes writes. */
export interface CheckedServers {
  primary: Host | undefined
  findings: Finding[]
}

/** Looks at every server once, side by side. */
export async function checkServers(url: string): Promise<CheckedServers> {
  const hosts = readHosts(url)
  if (hosts.length === 1) return { primary: hosts[0], findings: [] }
  const states = new Map(await Promise.all(hosts.map(async (host) => [host, await lookAt(host)] as const)))
  const primary = choosePrimary(states, undefined, 0)
  const findings = [...states].map(([host, facts]) => findingOf(host, facts, primary))
  if (!primary)
    findings.push(fail('PostgreSQL', 'no server of DATABASE_URL takes writes. Promote one, or add the primary to it.'))
  return { primary, findings }
}

function findingOf(host: Host, facts: Facts, primary: Host | undefined): Finding {
  const name = `Server ${host.name}`
  if (facts.kind === 'primary')
    return host === primary
      ? ok(name, 'primary, takes the writes')
      : fail(name, `takes writes too (timeline ${facts.timeline}). Stop it: only ${primary?.name} may take them.`)
  if (facts.kind === 'standby')
    return facts.readOnly
      ? warn(name, 'takes no writes: default_transaction_read_only is on there')
      : ok(name, 'standby')
  const reason = facts.kind === 'away' ? facts.error.message || String(Object(facts.error).code) : 'no response'
  return warn(name, `does not respond (${reason}), so it cannot take over. Start it, or remove it from DATABASE_URL.`)
}
