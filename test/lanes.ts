import { readFileSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/**
 * Loading the service takes longer than most files of tests do. So a few processes share the files: each takes the next
 * one when it is done with its last, and each file is a test there. A file with the words "a process of its own" gets that.
 */
export async function inLanes(files: string[], folder: string, lanes: number): Promise<string[]> {
  const alone = files.filter((file) => /process of its own/i.test(readFileSync(file, 'utf8')))
  // The largest first: they mostly take longest, and no lane should begin with one when the others are done.
  const shared = files.filter((file) => !alone.includes(file)).sort((one, other) => sizeOf(other) - sizeOf(one))
  await mkdir(folder)
  const programs = [
    ...Array.from({ length: Math.min(lanes, shared.length) }, () => shared),
    ...alone.map((file) => [file])
  ]
  return Promise.all(
    programs.map(async (list, number) => {
      const program = join(folder, `${String(number).padStart(3, '0')}.test.mjs`)
      await writeFile(program, laneOf(list, folder))
      return program
    })
  )
}

const sizeOf = (file: string) => statSync(file).size

/**
 * A folder can be made by one process only: whoever makes it runs the tests of the file. They have as long as a slow
 * machine may need.
 */
const laneOf = (files: string[], folder: string) => `import { mkdirSync } from 'node:fs'
import { test } from 'node:test'

// Once a process whose tests were over slept on, with nothing to wait for, until a signal woke it: this wakes it too.
setInterval(() => {}, 1_000).unref()
const taken = (file) => {
  try {
    mkdirSync(${JSON.stringify(folder)} + '/' + file.replaceAll('/', '+'))
    return false
  } catch (error) {
    if (error.code === 'EEXIST') return true
    throw error
  }
}
for (const file of ${JSON.stringify(files, null, 2)})
  if (!taken(file)) await test(file, { timeout: 600_000 }, () => import(${JSON.stringify(`${resolve('.')}/`)} + file))
`
