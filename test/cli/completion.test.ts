import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from './service.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidings-completion-'))
test.after(() => rmSync(folder, { recursive: true }))

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout } = await run(['completion', shell])
  assert.equal(code, 0)
  writeFileSync(join(folder, shell), stdout)
  return stdout
}

/** The words that bash itself offers for the last of the given words. */
function offered(...words: string[]): string[] {
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tidings; printf '%s\\n' "\${COMPREPLY[@]}"`
  const ran = spawnSync('bash', ['-c', program, 'bash', join(folder, 'bash'), ...words], { encoding: 'utf8' })
  assert.equal(ran.stderr, '')
  return ran.stdout.split('\n').filter(Boolean)
}

test('bash completes commands, sub-commands, options and known values', async () => {
  await scriptFor('bash')
  assert.ok(
    ['serve', 'project', 'send', 'completion', '--version'].every((word) => offered('tidings', '').includes(word))
  )
  assert.deepEqual(offered('tidings', 'pro'), ['project'])
  assert.deepEqual(offered('tidings', 'project', 'pa'), ['pause'])
  assert.deepEqual(offered('tidings', 'gateway', 'set', 'a'), ['apns'])
  assert.deepEqual(offered('tidings', 'key', 'create', '--k'), ['--kind'])
  assert.deepEqual(offered('tidings', 'key', 'create', 'backend', '--kind', ''), ['secret', 'public'])
  assert.deepEqual(offered('tidings', 'key', '--project', 'shop', 'ro'), ['rotate'])
  assert.deepEqual(offered('tidings', 'completion', 'z'), ['zsh'])
  assert.deepEqual(offered('tidings', 'device', 'add', 'i'), ['ios'])
  assert.deepEqual(offered('tidings', 'nothing', 'x'), [])
})

test('the zsh script is valid and describes every command and option', async () => {
  const script = await scriptFor('zsh')
  assert.match(script, /^#compdef tidings\n/)
  for (const word of [
    "'serve:Run the service'",
    "'rotate:Replace a key",
    "'--kind:secret for servers",
    "('secret' 'public')"
  ])
    assert.ok(script.includes(word), word)
  // Quotes, cases and brackets of the zsh script are those of bash; if zsh is installed, it checks the script too.
  assert.equal(spawnSync('bash', ['-n', join(folder, 'zsh')], { encoding: 'utf8' }).stderr, '')
  const zsh = spawnSync('zsh', ['-n', join(folder, 'zsh')], { encoding: 'utf8' })
  assert.equal(zsh.error ? '' : zsh.stderr, '')
})

test('another shell is refused, and --json prints the script in a document', async () => {
  const { code, stderr } = await run(['completion', 'fish'])
  assert.equal(code, 2)
  assert.match(stderr, /bash, zsh/)
  const { shell, script } = (await run(['completion', 'bash', '--json'])).json<{ shell: string; script: string }>()
  assert.deepEqual([shell, script.startsWith('# Completion of tidings for bash')], ['bash', true])
})
