import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { preparedFolder } from './support/embedded.ts'

/** Starts the service as bin/tidings.js does under an older Node. */
const launcher = `
  const env = { ...process.env, TIDINGS_LAUNCHER: String(process.pid) }
  require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit', env })`

test('a service whose launcher is killed stops, so that the next start finds its data folder free', async (t) => {
  const env = { ...process.env, DATA_DIR: await preparedFolder(t), PORT: '0', HOST: '127.0.0.1' }
  const args = ['-e', launcher, resolve('bin/tidings.js'), 'serve']
  const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => started.kill('SIGKILL'))
  let said = ''
  // The service inherits the pipe, which ends with its last process.
  for await (const text of started.stdout.setEncoding('utf8')) {
    said += text
    if (/\/console/.test(said)) started.kill('SIGKILL')
  }
  assert.match(said, /Stopped\./)
})
