import { readFileSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Loading the service takes longer than most test files. So a few processes share the files: each takes the next one
 * when it has finished its last, and each file is a test there. A file with the words "a process of its own" gets one.
 */
export async function inLanes(files: string[], folder: string, lanes: number, limitMs: number): Promise<string[]> {
  const alone = files.filter((file) => /process of its own/i.test(readFileSync(file, 'utf8')))
  const shared = largestFirst(files.filter((file) => !alone.includes(file)))
  const lists = [
    ...Array.from({ length: Math.min(lanes, shared.length) }, () => shared),
    ...alone.map((file) => [file])
  ]
  return programsOf(lists, folder, limitMs)
}

/** Each file in a process of its own. */
export const inProcesses = (files: string[], folder: string, limitMs: number) =>
  programsOf(
    largestFirst(files).map((file) => [file]),
    folder,
    limitMs
  )

const sizeOf = (file: string) => statSync(file).size
/** The largest files mostly take longest, and one that started last would end long after the others. */
const largestFirst = (files: string[]) => files.toSorted((one, other) => sizeOf(other) - sizeOf(one))

async function programsOf(lists: string[][], folder: string, limitMs: number): Promise<string[]> {
  await mkdir(folder)
  const lane = JSON.stringify(join(import.meta.dirname, 'lane.ts'))
  return Promise.all(
    lists.map(async (files, number) => {
      const program = join(folder, `${String(number).padStart(3, '0')}.test.mjs`)
      const given = [files, folder, limitMs].map((value) => JSON.stringify(value)).join(', ')
      await writeFile(program, `import { runLane } from ${lane}\nawait runLane(${given})\n`)
      return program
    })
  )
}
