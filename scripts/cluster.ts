// Makes a PostgreSQL with all migrations once, so that the first start on a data folder copies it instead of making one
// (src/platform/db/embedded/prepared.ts). npm runs it at the end of `npm install`. Nothing depends on it.
//   node scripts/cluster.ts [folder]
import {
  closeSync,
  existsSync,
  fsyncSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { openPool } from '../src/platform/db/db.ts'
import { findBinaries } from '../src/platform/db/embedded/binaries.ts'
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import { packCluster, preparedFile, preparedPlace } from '../src/platform/db/embedded/prepared.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { createLog } from '../src/platform/log.ts'

const place = process.argv[2] ?? preparedPlace

/** Makes the PostgreSQL in a data folder, and returns its own folder. */
async function makeCluster(dataDir: string): Promise<string> {
  const server = await startEmbedded({ dataDir, say: () => {} })
  try {
    const client = new pg.Client({ connectionString: server.url.replace('/tidings?', '/postgres?') })
    await client.connect()
    // Copies of files, and not of pages through the WAL: files that the databases share are then stored once.
    await client.query('drop database tidings')
    await client.query('create database tidings strategy file_copy')
    const pool = openPool({ connectionString: server.url }, await createLog('error'), 2)
    await migrate(pool)
    await pool.close()
    // The stop then writes to a segment of its own, which is all that is kept of the WAL.
    await client.query('select pg_switch_wal()')
    await client.end()
  } finally {
    await server.stop()
  }
  return server.folder
}

/** Writes a file that is complete or absent, which every user may read, because the service may run as another one. */
function write(file: string, aside: string, bytes: Buffer): void {
  const handle = openSync(aside, 'wx', 0o644)
  writeFileSync(handle, bytes)
  fsyncSync(handle)
  closeSync(handle)
  renameSync(aside, file)
}

async function prepare(): Promise<void> {
  const file = preparedFile(place, findBinaries())
  if (existsSync(file)) return
  mkdirSync(place, { recursive: true })
  const building = mkdtempSync(join(place, 'building-'))
  try {
    write(file, join(building, 'packed'), packCluster(await makeCluster(building)))
    for (const old of globSync(join(place, 'cluster-*'))) if (old !== file) rmSync(old)
  } finally {
    rmSync(building, { recursive: true, force: true })
  }
}

await prepare().catch(() => console.log('The first start will make its PostgreSQL itself, which takes longer.'))
