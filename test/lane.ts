import { mkdirSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { endByForce, laneSetting, startedBy } from './support/processes.ts'

const goneMs = 15_000

/** Runs each file that no other lane has taken. The runner ends processes that this one cannot end itself. */
export async function runLane(files: string[], folder: string, limitMs: number): Promise<void> {
  // A process whose tests were over once slept, with nothing to wait for, until a signal woke it. This timer wakes it
  // too.
  setInterval(() => {}, 1_000).unref()
  process.env[laneSetting] = String(process.pid)
  const ran: string[] = []
  for (const file of files) {
    const place = join(folder, file.replaceAll('/', '+'))
    if (taken(place)) continue
    ran.push(file)
    writeFileSync(join(place, 'began'), String(process.pid))
    await test(file, { timeout: limitMs }, () => import(pathToFileURL(resolve(file)).href))
    const left = await leftBehind(limitMs)
    if (left.length > 0) {
      const names = left.map(({ pid, command }) => `${pid} ${command}`).join(', ')
      await test(`${file} ends what it starts`, () => {
        throw new Error(`${file} left processes behind, which were ended: ${names}`)
      })
    }
    writeFileSync(join(place, 'ended'), '')
  }
  // Only a process that something keeps open gets here, well before the runner would end everything.
  const endAfter = (ms: number) => {
    setTimeout(
      () => {
        const open = [...new Set(process.getActiveResourcesInfo())]
        const waitsLonger = open.every((name) => timers.has(name)) && ms < Math.min(timersMs, limitMs)
        if (waitsLonger) return endAfter(timersMs)
        console.error(`One of these files keeps its process open (${open.join(', ')}${socketsOf()}): ${ran.join(', ')}`)
        process.exit(1)
      },
      Math.min(ms, limitMs)
    ).unref()
  }
  endAfter(30_000)
}

/** A client of a package may leave the time limit of a request that it gave up; the longest is a minute. */
const timers: ReadonlySet<string> = new Set(['PipeWrap', 'Timeout'])
const timersMs = 75_000

/** Addresses and last bytes of open sockets, which lead to the test that left them. Node has no documented way to list them. */
function socketsOf(): string {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles?(): unknown[] }
  return (handles?.call(process) ?? [])
    .filter((handle) => handle instanceof Socket && handle.remotePort !== undefined)
    .map((handle) => {
      const { localPort, remotePort, bytesRead, bytesWritten, readyState } = handle as Socket
      return `; socket ${localPort} to ${remotePort}, ${readyState}, read ${bytesRead}, wrote ${bytesWritten}`
    })
    .join('')
}

/** Only one process can make the folder: that process runs the tests of the file. */
function taken(place: string): boolean {
  try {
    mkdirSync(place)
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true
    throw error
  }
}

/** The processes of a file that outlive it. They get a moment, and are then killed. */
async function leftBehind(limitMs: number) {
  const find = () => startedBy(process.pid)
  for (const untilMs = Date.now() + Math.min(goneMs, limitMs); find().length > 0 && Date.now() < untilMs; )
    await sleep(50)
  return endByForce(find)
}
