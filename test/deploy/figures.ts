import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../support/program.ts'

/** An expression of the dashboard or of an alert, with the name of its panel or rule. */
export interface Figure {
  of: string
  expr: string
}

interface Dashboard {
  panels: { title: string; type: string; targets?: { expr: string }[] }[]
}

const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')

/** Every expression of deploy/grafana and deploy/prometheus, as Prometheus would get it. */
export function figures(): Figure[] {
  const { panels } = JSON.parse(read('grafana/tidings.json')) as Dashboard
  const { groups } = parse(read('prometheus/alerts.yaml')) as { groups: { rules: { alert: string; expr: string }[] }[] }
  return [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ of: title, expr: plain(expr) }))),
    ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ of: alert, expr })))
  ]
}

const plain = (expr: string) => expr.replaceAll('$job', '.*').replaceAll('$__rate_interval', '1m')

/** The metrics that an expression names, without the ends that Prometheus gives to the series of a histogram. */
export const metricsIn = (expr: string): string[] => [
  ...new Set(expr.match(/\b(tidings|process|nodejs)_\w+/g)?.map((name) => name.replace(/_(bucket|sum|count)$/, '')))
]
