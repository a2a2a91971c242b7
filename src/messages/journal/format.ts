import type { ProjectId } from '../../platform/ids.ts'
import type { MessageRow } from '../message.ts'

/** What a line says about a push that a gateway accepted. The rest is in the row of the message. */
export type Line = Pick<MessageRow, 'trigger_id' | 'device_id' | 'attempts' | 'gateway_message_id'>

export interface JournalFile {
  name: string
  nodeId: string
  pid: number
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const named = /^([0-9a-f-]{36})\.(\d{1,10})\.\d+\.journal$/

export const journalName = (nodeId: string, pid: number, number: number): string => `${nodeId}.${pid}.${number}.journal`

/** Undefined for files that are no journals. */
export function readName(name: string): JournalFile | undefined {
  const [, nodeId, pid] = named.exec(name) ?? []
  return nodeId && uuid.test(nodeId) ? { name, nodeId, pid: Number(pid) } : undefined
}

/** Begins with the line break, so that a line cannot continue a torn one. */
export const lineOf = (projectId: ProjectId, { trigger_id, device_id, attempts, gateway_message_id }: Line): string =>
  `\n${JSON.stringify([projectId, trigger_id, device_id, attempts, gateway_message_id])}`

/** The lines of each project; torn and foreign lines are left out. */
export function readLines(text: string): Map<ProjectId, Line[]> {
  const byProject = new Map<ProjectId, Line[]>()
  for (const written of text.split('\n')) {
    const [projectId, line] = readLine(written) ?? []
    if (!projectId || !line) continue
    const own = byProject.get(projectId)
    if (own) own.push(line)
    else byProject.set(projectId, [line])
  }
  return byProject
}

function readLine(text: string): [ProjectId, Line] | undefined {
  const [projectId, trigger_id, device_id, attempts, gateway_message_id] = valuesOf(text)
  if (!isText(projectId) || !isText(trigger_id) || !uuid.test(trigger_id) || !isText(device_id)) return undefined
  if (!Number.isInteger(attempts) || !(gateway_message_id === null || isText(gateway_message_id))) return undefined
  return [projectId as ProjectId, { trigger_id, device_id, attempts: Number(attempts), gateway_message_id }]
}

function valuesOf(text: string): unknown[] {
  try {
    const values: unknown = JSON.parse(text)
    return Array.isArray(values) ? values : []
  } catch {
    return []
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0')
