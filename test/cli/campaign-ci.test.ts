import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { root } from '../support/program.ts'
import { startService } from './service.ts'

const premium = 'segment_id: premium\nname: Premium\nsegment: { attribute: user.plan, operator: equals, value: a }\n'
const welcome = 'campaign_id: welcome\nname: Welcome\nsegment: { ref: premium }\nmessage: { title: Hello }\n'

/** The commands of a text, each as its words. Redirections and what follows a command are left out. */
const commandsIn = (text: string): string[][] =>
  [...text.matchAll(/^ *(?:- |run: )?tidings ([^>|#\n]+)/gm)].map(([, words]) => words!.trim().split(/ +/))

test('the commands of the guide and of the files for GitHub and GitLab work in a repository', async (t) => {
  const { tidings, feed, dataDir } = await startService(t)
  const folders = new Set(['campaigns', 'segments'])
  const ran = (words: string[]) => tidings(...words.map((word) => (folders.has(word) ? join(dataDir, word) : word)))
  for (const folder of folders) await mkdir(join(dataDir, folder))
  await writeFile(join(dataDir, 'segments/premium.yaml'), premium)
  await feed(premium, 'segment', 'apply', '-f', '-')
  await feed(welcome, 'campaign', 'apply', '-f', '-')

  for (const file of [
    'docs/guides/campaigns-in-git.md',
    'deploy/campaigns/github.yml',
    'deploy/campaigns/gitlab.yml'
  ]) {
    const text = await readFile(join(root, file), 'utf8')
    const shown = file.endsWith('.md')
      ? [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block).join('')
      : text
    const commands = commandsIn(shown)
    assert.ok(commands.length >= 5, file)
    for (const words of commands) {
      const { code, stderr } = await ran(words)
      assert.equal(code, 0, `${file}: ${words.join(' ')}\n${stderr}`)
    }
    if (file.endsWith('.yml')) assert.equal(typeof parse(text), 'object')
  }
  const { stdout } = await ran(['campaign', 'diff', '-f', 'campaigns', '--all'])
  assert.equal(stdout, 'No differences.\n')
})
