import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { type Config, readConfig } from '../../platform/config/config.ts'
import type { Pool } from '../../platform/db/db.ts'
import { counted } from '../output.ts'
import { examples, jsonOption, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { onDatabase, refuseWhileNodesRun } from './database.ts'
import { declareForget } from './secrets-forget.ts'

interface Options {
  newKeyFile?: string
  force?: true
  json?: true
}

export function declare(command: Command, shell: Shell): void {
  examples(command, ['tidings secrets rotate', 'tidings secrets forget'])
  const rotate = command.command('rotate').description('Change the master key and seal every secret with it')
  rotate
    .option('--new-key-file <file>', 'Read the new key from a file (default: generated)')
    .option('--force', 'Rotate although nodes are running; restart them at once')
    .addOption(jsonOption())
  examples(
    rotate,
    ['tidings secrets rotate', 'tidings secrets rotate --new-key-file new.key'],
    `Works on the database directly, with the settings of the service. Stop all nodes
first. It can be killed at any time: run it again, or start the service.
To make a key yourself: openssl rand -base64 32 > new.key`
  )
  rotate.action(async (options: Options) => {
    const config = readConfig(shell.env)
    // Importing the capabilities registers their sealed columns.
    await import('../../app.ts')
    const done = await onDatabase(
      shell,
      config,
      async ({ pool, name }) => ({ database: name, ...(await change(pool, config, options)) }),
      { mustExist: true }
    )
    tell(
      { shell, json: options.json === true },
      done,
      `Sealed ${counted(done.secrets, 'secret')} of the database ${done.database} with the new master key.\n${done.next}`
    )
  })
  declareForget(command.command('forget'), shell)
}

interface Done {
  secrets: number
  columns: Record<string, number>
  /** The file with the new key. */
  key_file: string
  /** The next step of the operator. */
  next: string
}

async function change(pool: Pool, config: Config, { newKeyFile, force }: Options): Promise<Done> {
  const [{ migrate }, { finishRotation, keyFiles, rotateMasterKey }, { hasSecrets, masterKey, readKeyFile }] =
    await Promise.all([
      import('../../platform/db/migrate.ts'),
      import('../../platform/secrets/rotation.ts'),
      import('../../platform/secrets/secrets.ts')
    ])
  const { DATA_DIR: dataDir, MASTER_KEY: given } = config
  const newKey =
    newKeyFile === undefined ? randomBytes(32) : await readKeyFile(newKeyFile, 'Make one: openssl rand -base64 32')
  const inFile = given === undefined
  const files = keyFiles(dataDir)
  // The lock of migrations keeps nodes and other rotations from starting meanwhile.
  return migrate(pool, async () => {
    if (!force) await refuseWhileNodesRun(pool, 'since they use the old key')
    if (inFile) await finishRotation(pool, dataDir)
    const oldKey = await masterKey(given, dataDir, () => hasSecrets(pool))
    const keptElsewhere = newKeyFile !== undefined
    const columns = await rotateMasterKey({ pool, dataDir, oldKey, newKey, inFile, keptElsewhere })
    const secrets = Object.values(columns).reduce((sum, count) => sum + count, 0)
    const key_file = inFile ? files.current : (newKeyFile ?? files.next)
    return { secrets, columns, key_file, next: inFile ? nextForFile(files) : nextForSetting(key_file, keptElsewhere) }
  })
}

const nextForFile = ({ current, previous }: { current: string; previous: string }) =>
  `It is in ${current}: copy it to the other nodes, then start them.\n` +
  `Older backups need the old key, which is kept in ${previous}. Remove it when no such backup is left.`

const nextForSetting = (file: string, keptElsewhere: boolean) =>
  `Set MASTER_KEY to the text in ${file} on every node, then start them.` +
  `${keptElsewhere ? '' : ' Then remove the file.'}\nOlder backups need the old key.`
