#!/usr/bin/env node
// The entry point. Plain JavaScript for any version of Node: it runs the rest with Node 24.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findBundle, nameSources } from './bundle.js'

const wanted = 24
// The settings of the service are read elsewhere; by this a launcher tells its id.
const { env } = process
const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (Number(process.versions.node.split('.')[0]) >= wanted) {
  endWithLauncher()
  module.enableCompileCache?.()
  // A checkout runs its sources as they are; an installed package runs dist/, since Node strips no types under node_modules.
  const source = join(root, 'src', 'main.ts')
  if (!existsSync(source)) await import('../dist/main.js')
  else {
    // Other commands load few of the sources.
    const bundle = ['serve', 'secrets', 'resume'].includes(process.argv[2]) ? findBundle(root) : undefined
    if (bundle) nameSources(bundle)
    await import(bundle ?? '../src/main.ts')
  }
} else {
  runUnder(shippedNode())
}

/** The Node 24 of the optional dependency, for machines with an older one. */
function shippedNode() {
  try {
    const require = module.createRequire(import.meta.url)
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`)
    return join(dirname(manifest), 'bin', 'node')
  } catch {
    console.error(
      `Tidings needs Node ${wanted} or newer; this is ${process.version}, and no Node ${wanted} came with the package ` +
        `for ${process.platform}-${process.arch}. Install Node ${wanted}, or run npm install again with optional dependencies.`
    )
    process.exit(78)
  }
}

function runUnder(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...env, TIDINGS_LAUNCHER: String(process.pid) }
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`Tidings could not start ${node}: ${error.message}`)
    process.exit(78)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
}

/** A launcher that is killed cannot pass a signal on, and its supervisor starts another one on the same data folder. */
function endWithLauncher() {
  const launcher = Number(env.TIDINGS_LAUNCHER)
  delete env.TIDINGS_LAUNCHER
  if (process.ppid !== launcher) return
  const timer = setInterval(() => {
    if (process.ppid === launcher) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  timer.unref()
}
