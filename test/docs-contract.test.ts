import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const contract = read('docs/contract.md').replace(/^```.*?^```$/gms, '')

/** Clauses stand in headings (`### 4.4 …`, `## 4. …`) and in the first column of tables (`| 4.4.2 |`). */
const clauses = new Set(
  [...contract.matchAll(/^(?:#+|\|) ((?:[AB]\.)?\d(?:\.\d)*)\.? /gm)].map(([, clause]) => clause!)
)

/** Clauses that a test name begins with, as in `4.1, 4.2: null properties …`, or names, as in `contract 4.5`. */
function cited(source: string): string[] {
  const leading = [...source.matchAll(/\b(?:it|test|describe|story)\(\s*['"`]((?:(?:[AB]\.)?\d[\d.]*,? ?)+):/g)]
  const named = [...source.matchAll(/\b(?:it|test|describe|story)\(\s*['"`].*?\bcontract (\d\.\d[\d.]*\d|\d\.\d)/g)]
  return [...leading, ...named].flatMap(([, list]) => list!.split(/, ?/)).map((clause) => clause.trim())
}

describe('docs/contract.md', () => {
  it('has every clause that a test name cites', () => {
    const missing = globSync('test/**/*.ts', { cwd: root }).flatMap((file) =>
      cited(read(file))
        .filter((clause) => !clauses.has(clause))
        .map((clause) => `${file}: ${clause}`)
    )
    assert.deepEqual(missing, [])
  })

  it('has every clause that a file of test/spec is named after', () => {
    const missing = globSync('test/spec/*.test.ts', { cwd: root })
      .map((file) => /^test\/spec\/(\d\.\d+)-/.exec(file)?.[1])
      .filter((clause) => clause !== undefined && !clauses.has(clause))
    assert.deepEqual(missing, [])
  })

  it('has every clause that a comment of the source names', () => {
    const missing = globSync('src/**/*.{ts,tsx}', { cwd: root }).flatMap((file) =>
      [...read(file).matchAll(/\bcontract ((?:[AB]\.)?\d(?:\.\d)*)/gi)]
        .map(([, clause]) => clause!)
        .filter((clause) => !clauses.has(clause))
        .map((clause) => `${file}: ${clause}`)
    )
    assert.deepEqual(missing, [])
  })

  it('names only texts, codes, headers and fields that the source has', () => {
    const source = globSync('src/**/*.{ts,tsx}', { cwd: root }).map(read).join('\n').toLowerCase()
    const literals = [...contract.matchAll(/`([A-Za-z][\w -]*)`/g)].map(([, text]) => text!)
    assert.ok(literals.length > 150)
    assert.deepEqual(
      literals.filter((text) => !source.includes(text.toLowerCase())),
      []
    )
  })

  it('would be found out by this test', () => {
    assert.deepEqual(cited("it('4.1, 4.2: null')\ndescribe('contract 4.5 …')"), ['4.1', '4.2', '4.5'])
    assert.ok(
      clauses.has('4.4.2') && clauses.has('5.1') && clauses.has('B.9') && clauses.has('6') && !clauses.has('4.9')
    )
  })
})
