import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { eventually } from '../support/service.ts'

const folder = join(import.meta.dirname, 'structure')

/** Replaces what differs from run to run: ids, keys, times, addresses and counts of a moment. */
const steady = (text: string, projectId: string) =>
  text
    .replaceAll(projectId, '<project>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replace(/svc_\w+(…|\.\.\.)?/g, '<key>')
    .replace(/127\.0\.0\.1:\d+/g, '<host>')
    .replace(/\d{1,2} \w{3,4} \d{4}(, \d\d:\d\d(:\d\d)?)?|\d\d:\d\d(:\d\d)?/g, '<time>')
    .replace(/\b(now|\d+ (sec|min|hr)\.? ago|in \d+ (sec|min|hr)\.?|this (minute|hour))/g, '<time>')
    .replace(/\d+(\.\d+)? (ms|s|MB|KB|B)\b/g, '<size>')

/** Without the rows of tables, whose order and values depend on the moment; the names of their columns stay. */
function withoutRows(snapshot: string): string {
  const depthOf = (line: string) => line.search(/\S/)
  let dropped = Number.POSITIVE_INFINITY
  return snapshot
    .split('\n')
    .filter((line, index, lines) => {
      if (depthOf(line) > dropped) return false
      dropped = Number.POSITIVE_INFINITY
      if (!/^\s*- '?row\b/.test(line) || /- columnheader/.test(lines[index + 1] ?? '')) return true
      dropped = depthOf(line)
      return false
    })
    .join('\n')
}

/**
 * Compares headings, names, texts and their order, as a screen reader meets them, with the stored ones. Pixels differ with
 * the fonts of a machine; a part that has vanished, moved or lost its name shows here on every machine.
 * TIDINGS_STRUCTURE=1 stores what is there now.
 */
export async function assertStructure(page: Page, name: string, projectId: string): Promise<void> {
  const file = join(folder, `${name}.yml`)
  const read = async () => `${steady(withoutRows(await page.getByRole('main').ariaSnapshot()), projectId)}\n`
  if (process.env.TIDINGS_STRUCTURE) {
    await mkdir(folder, { recursive: true })
    return writeFile(file, await read())
  }
  const stored = await readFile(file, 'utf8')
  await eventually(async () => assert.equal(await read(), stored), 5_000)
}

/** No table is wider than its place: a long text ends in dots, and the columns beside it stay on the screen. */
export async function assertColumns(page: Page, where: string): Promise<void> {
  const wide = (await page.evaluate(`[...document.querySelectorAll('main table')]
    .map((table) => ({ table, place: table.closest('section, [role=group]') ?? table.parentElement }))
    .filter(({ table, place }) => table.offsetWidth > place.clientWidth + 1)
    .map(({ table, place }) => (table.getAttribute('aria-label') ?? 'a table') + ': ' + table.offsetWidth + ' of ' + place.clientWidth)`)) as string[]
  assert.deepEqual(wide, [], where)
}

/** No named section of the page covers another one. */
export async function assertApart(page: Page, where: string): Promise<void> {
  const covered = (await page.evaluate(`(() => {
    const sections = [...document.querySelectorAll('main section[aria-label], main form[aria-label], main nav')]
      .map((section) => ({ section, box: section.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && box.height > 0)
    const found = []
    for (const [index, one] of sections.entries()) for (const other of sections.slice(index + 1)) {
      if (one.section.contains(other.section) || other.section.contains(one.section)) continue
      const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left)
      const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top)
      if (wide > 1 && high > 1) found.push(one.section.getAttribute('aria-label') + ' and ' + other.section.getAttribute('aria-label'))
    }
    return found
  })()`)) as string[]
  assert.deepEqual(covered, [], where)
}
