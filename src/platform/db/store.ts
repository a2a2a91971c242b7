import type { Db } from './db.ts'
import { statement } from './statement.ts'

/** Distinguishes our locks from other users of numbered locks in this database: `tidi` in ASCII. */
export const presenceFamily = 0x74696469

export const ping = statement('platform.ping', 'select 1')
export const notify = statement('platform.notify', 'select pg_notify($1, $2)')
// Reads the list of locks instead of trying the lock: a process that tried it would hold it for a moment, and its owner
// could not come back under its name.
const present = statement(
  'presence.seen',
  `select exists (
     select from pg_locks where locktype = 'advisory' and classid = ${presenceFamily} and objid = $1::oid and objsubid = 2
        and granted and database = (select oid from pg_database where datname = current_database())
   ) as seen`
)
const addRow = statement(
  'platform.add_setting',
  'insert into settings (name, value) values ($1, $2) on conflict do nothing'
)
const getRow = statement('platform.get_setting', 'select value from settings where name = $1')

/** Whether the process of this name holds its lock. */
export const isPresent = async (db: Db, name: number): Promise<boolean> =>
  (await db.one<{ seen: boolean }>(present, [name]))?.seen === true

/** A fact about the installation, such as that it was set up. */
export const getSetting = async (db: Db, name: string): Promise<string | undefined> =>
  (await db.one<{ value: string }>(getRow, [name]))?.value

const holdRow = statement('platform.hold_setting', 'select 1 from settings where name = $1 for update')

/** Holds a setting until the end of the transaction: others that hold it wait. */
export const holdSetting = (tx: Db, name: string) => tx.one(holdRow, [name])

const shareRow = statement('platform.share_setting', 'select value from settings where name = $1 for share')

/** Reads a setting and keeps it from being changed or removed until the end of the transaction. */
export const shareSetting = async (tx: Db, name: string): Promise<string | undefined> =>
  (await tx.one<{ value: string }>(shareRow, [name]))?.value

const removeRow = statement('platform.remove_setting', 'delete from settings where name = $1')

/** Returns the number of settings that were removed. */
export const removeSetting = (db: Db, name: string) => db.run(removeRow, [name])

/** Stores a setting only if it has no value yet. */
export const addSetting = (db: Db, name: string, value: string) => db.run(addRow, [name, value])

const tidingsThere = statement(
  'platform.holds_tidings',
  `select to_regclass('projects') is not null and to_regclass('settings') is not null as there`
)

/** Whether a start has set the database up. */
export const holdsTidings = async (db: Db): Promise<boolean> => (await db.one<{ there: boolean }>(tidingsThere))!.there
