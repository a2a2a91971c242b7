/**
 * Settings that are written once into postgresql.conf, where an operator may change them. Settings that the launcher
 * depends on are passed on the command line at each start instead. The values suit a small machine.
 */
const settings = {
  max_connections: '200',
  // Compiled queries and huge pages help long analytic queries on large machines, and cost memory on small ones.
  jit: 'off',
  huge_pages: 'off',
  io_workers: '1',
  // Shared memory that PostgreSQL writes at its start and we do not use: 5 MB. No transaction is serializable, nothing here
  // subscribes to another server, and a process reads ahead by 16 at most (effective_io_concurrency).
  max_pred_locks_per_transaction: '10',
  max_logical_replication_workers: '0',
  io_max_concurrency: '16',
  max_wal_size: '1GB',
  min_wal_size: '80MB',
  // Random reads cost little on present disks.
  random_page_cost: '1.1',
  log_checkpoints: 'off'
}

// Text sorts by code point, which no update of a system library can change under an index; case follows Unicode.
const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8']
// Only the owner can enter the folder of the socket, so every connection is trusted. The server listens nowhere else.
const access = ['--username=tidings', '--auth-local=trust', '--auth-host=reject']
const tuned = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
// initdb syncs its files before it ends, so the folder is durable when it is renamed. Skipping the sync is hardly faster.
export const initdbArgs = [...locale, ...access, ...tuned, '--data-checksums', '--no-instructions']
