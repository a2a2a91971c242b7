import { randomBytes } from 'node:crypto'

/** Where PostgreSQL 18 keeps things in global/pg_control (src/include/catalog/pg_control.h); the checksum comes last. */
const at = { identifier: 0, version: 8, checkpoint: 32, segmentSize: 228, nonce: 257, checksum: 292 }
const version = 1800
const nonceLength = 32
/** Where the first page of a segment of WAL names the system identifier (src/include/access/xlog_internal.h). */
const identifierInWal = 24

/** The name of the segment of WAL with the last checkpoint: after a clean stop PostgreSQL reads no other. */
export function segmentOf(control: Buffer): string {
  check(control)
  const size = BigInt(control.readUInt32LE(at.segmentSize))
  const number = control.readBigUInt64LE(at.checkpoint) / size
  const perFile = 0x1_0000_0000n / size
  return [1n, number / perFile, number % perFile]
    .map((part) => part.toString(16).toUpperCase().padStart(8, '0'))
    .join('')
}

/**
 * Copies of a control file and a segment of WAL with an identifier of their own: PostgreSQL tells the WAL of one
 * installation from that of another by it. The nonce, with which it answers strangers who try a password, is a new one
 * too. pg_createsubscriber of PostgreSQL changes the identifier in the same way.
 */
export function renew(control: Buffer, wal: Buffer, now = new Date()): { control: Buffer; wal: Buffer } {
  check(control)
  if (control.readBigUInt64LE(at.identifier) !== wal.readBigUInt64LE(identifierInWal))
    throw new Error('the WAL belongs to another PostgreSQL')
  // Seconds in the upper half, as PostgreSQL does it. It takes microseconds and a process id for the lower one, which are
  // less unique than random bits in containers, where the process id is always the same.
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  const identifier = (seconds << 32n) | BigInt(randomBytes(4).readUInt32LE())
  const renewed = { control: Buffer.from(control), wal: Buffer.from(wal) }
  renewed.control.writeBigUInt64LE(identifier, at.identifier)
  renewed.control.set(randomBytes(nonceLength), at.nonce)
  renewed.control.writeUInt32LE(crc32c(renewed.control.subarray(0, at.checksum)), at.checksum)
  renewed.wal.writeBigUInt64LE(identifier, identifierInWal)
  return renewed
}

/** The checksum shows that the places above are those of this file. */
function check(control: Buffer): void {
  const known = control.readUInt32LE(at.version) === version
  if (!known || control.readUInt32LE(at.checksum) !== crc32c(control.subarray(0, at.checksum)))
    throw new Error('the control file is not one of PostgreSQL 18')
}

/** CRC-32C, bit by bit: it runs over 292 bytes. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffff_ffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0)
  }
  return ~crc >>> 0
}
