import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import type { Figure } from '../support/figures.ts'

/** What one benchmark found in one run. */
export interface Result {
  date: string
  commit: string
  form: 'quick' | 'full'
  bench: string
  /** The benchmark was stopped at its limit, or failed; figures that it had reported count. */
  incomplete?: string
  machine: Machine
  figures: Figure[]
}

interface Machine {
  processor: string
  cores: number
  memoryGb: number
  system: string
  node: string
}

const folder = join(import.meta.dirname, '../results')

export const machine = (): Machine => ({
  // Linux names the model on x64; on arm64 often only the architecture is known.
  processor: `${arch()}${cpus()[0] && !/unknown/i.test(cpus()[0]!.model) ? `, ${cpus()[0]!.model.trim()}` : ''}`,
  cores: availableParallelism(),
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.version
})

/** The commit, with a + where files were changed since. Outside of a repository: unknown. */
export function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore']
    }).trim()
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no', '../../src', '../../migrations', '..')
    return git('rev-parse', '--short=8', 'HEAD') + (changed.replaceAll(/^.*bench\/results.*$/gm, '').trim() ? '+' : '')
  } catch {
    return 'unknown'
  }
}

/** Results of machines of one kind, one in each line. */
const file = () => join(folder, `${arch()}-${availableParallelism()}-cores.jsonl`)

export function append(result: Result): string {
  mkdirSync(folder, { recursive: true })
  appendFileSync(file(), `${JSON.stringify(result)}\n`)
  return file()
}

/** The last result of each figure on machines of this kind. */
export function latest(): Map<string, { figure: Figure; result: Result }> {
  const found = new Map<string, { figure: Figure; result: Result }>()
  if (!existsSync(file())) return found
  for (const line of readFileSync(file(), 'utf8').split('\n').filter(Boolean)) {
    const result = JSON.parse(line) as Result
    for (const figure of result.figures) found.set(figure.name, { figure, result })
  }
  return found
}
