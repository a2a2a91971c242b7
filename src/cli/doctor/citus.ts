import type pg from 'pg'
import { checkCitus } from '../../platform/db/citus/check.ts'
import { readCitus } from '../../platform/db/citus/facts.ts'
import { counted } from '../output.ts'
import { type Finding, fail, ok, warn } from './check.ts'

/** Checks the servers and tables of a Citus cluster; nothing on a plain PostgreSQL. */
export async function checkDistribution(client: pg.Client, shown: string): Promise<Finding[]> {
  if (!(await readCitus(client))) return []
  const { citus, tables, faults, warnings } = await checkCitus(client, shown)
  const findings = [
    ...faults.map((message) => fail('Citus', message)),
    ...warnings.map((message) => warn('Citus', message))
  ]
  const tenant = tables.filter((table) => table.tenant)
  const left = tenant.filter(({ together }) => !together).map(({ name }) => name)
  if (left.length > 0) findings.push(notSpread(left, tenant.length))
  if (findings.length > 0) return findings
  const workers = citus!.nodes.filter(({ holdsShards }) => holdsShards).length
  const next = tenant.length === 0 ? '; `tidings db distribute` sets the database up' : ''
  return [ok('Citus', `${citus!.version}, ${counted(tenant.length, 'table')} on ${counted(workers, 'worker')}${next}`)]
}

const shownNames = 5

function notSpread(left: string[], all: number): Finding {
  if (left.length === all)
    return warn('Citus', 'is installed, but all tables are on the coordinator. `tidings db distribute` spreads them.')
  const more = left.length > shownNames ? ` and ${left.length - shownNames} more` : ''
  const names = left.slice(0, shownNames).join(', ')
  return fail('Citus', `not distributed: ${names}${more}. Stop the nodes and run \`tidings db distribute\` again.`)
}
