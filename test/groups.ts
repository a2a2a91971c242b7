import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where files of tests stand that keep to their own service and projects, and do not mind who else is in the process. */
const together = /^test\/(a2a|campaigns|cli|console|delivery|simulator|spec|webhooks)\//
const atOnce = 5

/**
 * Loading the service takes longer than most files of tests do. So those that can are run by fives in one process: each
 * file is a test there, one after the other. A file with the words "a process of its own" gets that.
 */
export async function inGroups(files: string[]): Promise<{ folder: string; files: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-suite-'))
  const grouped = files.filter((file) => together.test(file) && !/process of its own/i.test(readFileSync(file, 'utf8')))
  const count = Math.ceil(grouped.length / atOnce)
  const groups = await Promise.all(
    // Dealt out, since the long ones stand together in their folders.
    Array.from({ length: count }, async (_, number) => {
      const group = join(folder, `group-${number}.test.mjs`)
      await writeFile(group, groupOf(grouped.filter((_, index) => index % count === number)))
      return group
    })
  )
  return { folder, files: [...groups, ...files.filter((file) => !grouped.includes(file))] }
}

/** A file has longer than a test has: on a slow machine its tests add up. */
const groupOf = (files: string[]) => `import { test } from 'node:test'
for (const file of ${JSON.stringify(
  files.map((file) => resolve(file)),
  null,
  2
)})
  await test(file, { timeout: 600_000 }, () => import(file))
`
