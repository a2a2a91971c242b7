import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Script } from 'node:vm'
import type { Command as CliCommand } from 'commander'
import { wholeProgram } from '../../src/cli/program.ts'
import type { Shell } from '../../src/cli/shell.ts'
import { settings } from '../../src/platform/config/config.ts'
import { type Block, blocks } from './blocks.ts'
import type { Command } from './shell.ts'

const root = resolve(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

/** Programs of other makers, each with the reason why no test here runs its lines. `sh -n` parses them all. */
export const others: Record<string, string> = {
  openssl: 'makes a random key',
  'createdb psql pg_dump': 'need a PostgreSQL of the reader',
  'docker kubectl helm': 'test/deploy runs and lints the files that they take',
  'sudo systemctl': 'change the machine; test/deploy analyses the unit',
  unshare: 'needs root',
  'jq grep gzip zcat ssh': 'read or take the output of our commands',
  'cp mkdir cat echo sleep export until do done source cd test': 'part of every shell',
  a2a: 'a function that the page defines'
}
const known = new Set(Object.keys(others).flatMap((names) => names.split(' ')))

/** Packages that `npx` fetches; `npm run test:generators` runs them, with this TypeScript. */
const fetched = new Set(['openapi-typescript', '@hey-api/openapi-ts', 'typescript@5.9.3'])

/** Variables that programs of others, or the command line, read. */
const alsoRead = /^(TIDINGS_|TEST_DATABASE_URL$|NODE_|PG[A-Z]+$)/

export interface Checker {
  /** Returns what is wrong with a command of a block; undefined if nothing is. Requests are not its concern. */
  check(block: Block, command: Command): string | undefined
}

export async function createChecker(): Promise<Checker> {
  const program = await wholeProgram({} as Shell)
  program.exitOverride().configureOutput({ writeOut() {}, writeErr() {} })
  mute(program)
  return {
    check: (block, { assigned, words }) => {
      const [name, ...args] = words
      const strange = assigned.find((variable) => !(variable in settings) && !alsoRead.test(variable))
      if (name !== undefined && strange && !mentions(block.page, strange)) return `${strange} is no setting`
      if (name === undefined || name === 'curl') return undefined
      if (name === 'tidings') return parsed(program, args)
      if (name === 'npx') return npx(program, args)
      if (name === 'npm') return npm(program, args)
      if (name === 'node') return node(program, block, args)
      return known.has(name) || name.includes('()') || /^[{}]/.test(name) ? undefined : `${name} is no known program`
    }
  }
}

/** Lets a command be parsed without being run. */
function mute(command: CliCommand): void {
  command.exitOverride().configureOutput({ writeOut() {}, writeErr() {} })
  if (command.commands.length === 0) command.action(() => {})
  for (const each of command.commands) mute(each)
}

function parsed(program: CliCommand, args: string[]): string | undefined {
  try {
    program.parse(args, { from: 'user' })
    return undefined
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    return code === 'commander.help' || code === 'commander.helpDisplayed' || code === 'commander.version'
      ? undefined
      : message
  }
}

function npx(program: CliCommand, [name, ...args]: string[]): string | undefined {
  if (name === 'tidings') return parsed(program, args)
  if (name === '-c') return undefined
  const packages = [name, ...args].filter((_, index, all) => all[index - 1] === '-p')
  if (packages.length > 0) {
    const untested = packages.filter((one) => !fetched.has(one!))
    return untested.length === 0 ? undefined : `npx -p ${untested.join(' -p ')} is not tested`
  }
  return fetched.has(name!) ? undefined : `npx ${name} is not tested`
}

function npm(program: CliCommand, [verb, script, ...args]: string[]): string | undefined {
  if (verb === 'run' && script === 'tidings')
    return parsed(
      program,
      args.filter((one) => one !== '--')
    )
  if (verb === 'run') return script! in scripts ? undefined : `there is no script ${script}`
  return ['install', 'start', 'test', 'pack', 'ci'].includes(verb!) ? undefined : `npm ${verb} is not known`
}

function node(program: CliCommand, { page }: Block, [first, ...args]: string[]): string | undefined {
  if (first === 'bin/tidings.js') return parsed(program, args)
  if (first === '-e') return void new Script(args[0]!)
  const own = blocks.some((block) => block.page === page && block.language === 'js')
  return existsSync(join(root, first!)) || (own && first!.endsWith('.mjs')) ? undefined : `${first} is no file`
}

/** Whether a page sets a variable for its own later lines. */
const mentions = (page: string, variable: string) =>
  blocks.some((block) => block.page === page && block.code.includes(`$${variable}`))
