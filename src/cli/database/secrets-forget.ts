import type { Command } from 'commander'
import { type Config, readConfig } from '../../platform/config/config.ts'
import type { Pool } from '../../platform/db/db.ts'
import { confirm } from '../confirm.ts'
import { exit, Failure } from '../exit.ts'
import { counted } from '../output.ts'
import { examples, jsonOption, tell } from '../session.ts'
import type { Shell } from '../shell.ts'
import { type OnDatabase, onDatabase, refuseWhileNodesRun } from './database.ts'

/** `tidings secrets forget`. */
export function declareForget(forget: Command, shell: Shell): void {
  forget.description('Remove the secrets of a lost master key').option('--yes', 'Do not ask').addOption(jsonOption())
  examples(
    forget,
    ['tidings secrets forget'],
    `For a master key that is lost: its secrets cannot be decrypted, and the service
does not start. This removes gateway credentials, secrets of webhooks,
credentials of agents' webhooks with their pending deliveries, and the
simulators. Users, devices, campaigns, keys and tokens stay. Set the gateways
again afterwards. Stop all nodes first.`
  )
  forget.action(async (options: { yes?: true; json?: true }) => {
    const config = readConfig(shell.env)
    await import('../../app.ts')
    const forgetIn = async ({ pool, name }: OnDatabase) => {
      const question = `Type "forget" to remove every secret in the database ${name}: `
      const rows = await forgetSecrets(pool, config, () => confirm(shell, question, /^forget$/, options.yes === true))
      return { database: name, rows }
    }
    const done = await onDatabase(shell, config, forgetIn, { mustExist: true })
    const removed = Object.values(done.rows).reduce((sum, count) => sum + count, 0)
    tell(
      { shell, json: options.json === true },
      done,
      `Removed ${counted(removed, 'sealed row')} from the database ${done.database}. The next start uses the master key it ` +
        'finds,\nor makes one. Then set the gateways again, and rotate the secrets of webhooks.'
    )
  })
}

async function forgetSecrets(pool: Pool, config: Config, agreed: () => Promise<void>): Promise<Record<string, number>> {
  const [{ migrate }, { forgetAll }, { opensSecrets, readKeyFile }, { keyFiles }] = await Promise.all([
    import('../../platform/db/migrate.ts'),
    import('../../platform/secrets/sealed.ts'),
    import('../../platform/secrets/secrets.ts'),
    import('../../platform/secrets/rotation.ts')
  ])
  const { current, next, previous } = keyFiles(config.DATA_DIR)
  return migrate(pool, async () => {
    await refuseWhileNodesRun(pool, 'since they have the key')
    for (const file of [current, next, previous]) {
      const key = config.MASTER_KEY ?? (await readKeyFile(file).catch(() => undefined))
      if (key && (await opensSecrets(pool, key)))
        throw new Failure(
          exit.failure,
          'key_not_lost',
          `${config.MASTER_KEY ? 'MASTER_KEY' : file} opens the secrets of this database: the key is not lost, and nothing was removed.`
        )
    }
    await agreed()
    return pool.transaction(forgetAll)
  })
}
