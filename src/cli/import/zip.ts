import { type FileHandle, open } from 'node:fs/promises'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createInflateRaw } from 'node:zlib'
import { exit, Failure } from '../exit.ts'

interface Member {
  name: string
  /** 0: stored, 8: deflated. */
  method: number
  size: number
  headerAt: number
}

const damaged = (file: string) =>
  new Failure(exit.failure, 'unreadable', `${file} is not a zip archive, or is damaged.`)
/** The record at the end of an archive, before a comment of at most 64 KiB. */
const endBytes = 22
const longestComment = 65_535

/** The contents of all files in an archive, one after the other, each ended by a line feed. */
export async function* unzipped(file: string, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  const handle = await open(file)
  try {
    for (const member of await membersOf(handle, file)) {
      if (member.name.endsWith('/') || member.size === 0) continue
      const content = await contentOf(handle, member, file)
      content.on('data', (chunk: Buffer) => onRead(chunk.length))
      if (member.method === 0) yield* content as AsyncIterable<Buffer>
      else yield* through(content, createInflateRaw())
      yield Buffer.from('\n')
    }
  } catch (error) {
    throw /^Z_|^ERR_/.test(String((error as NodeJS.ErrnoException).code)) ? damaged(file) : error
  } finally {
    await handle.close()
  }
}

/** What an unpacker makes of a stream. Its errors are thrown where it is read. */
export function through(input: Readable, unpacker: Duplex): AsyncIterable<Buffer> {
  pipeline(input, unpacker).catch(() => {})
  return unpacker as AsyncIterable<Buffer>
}

async function membersOf(handle: FileHandle, file: string): Promise<Member[]> {
  const { size } = await handle.stat()
  const tail = await bytesAt(handle, Math.max(0, size - endBytes - longestComment), size)
  const end = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (end < 0 || end + endBytes > tail.length) throw damaged(file)
  const [count, length, start] = [tail.readUInt16LE(end + 10), tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (start === 0xffffffff || count === 0xffff)
    throw new Failure(exit.failure, 'unreadable', `${file} is larger than this program unpacks. Unpack it first.`)
  const directory = await bytesAt(handle, start, start + length)
  const members: Member[] = []
  for (let at = 0; at + 46 <= directory.length && members.length < count; ) {
    if (directory.readUInt32LE(at) !== 0x02014b50) throw damaged(file)
    const [name, extra, comment] = [28, 30, 32].map((place) => directory.readUInt16LE(at + place)) as [
      number,
      number,
      number
    ]
    members.push({
      name: directory.toString('utf8', at + 46, at + 46 + name),
      method: directory.readUInt16LE(at + 10),
      size: directory.readUInt32LE(at + 20),
      headerAt: directory.readUInt32LE(at + 42)
    })
    at += 46 + name + extra + comment
  }
  return members
}

async function contentOf(
  handle: FileHandle,
  { method, size, headerAt, name }: Member,
  file: string
): Promise<Readable> {
  const header = await bytesAt(handle, headerAt, headerAt + 30)
  if (header.length < 30 || header.readUInt32LE(0) !== 0x04034b50) throw damaged(file)
  if (method !== 0 && method !== 8)
    throw new Failure(
      exit.failure,
      'unreadable',
      `${name} in ${file} is packed in a way that this program does not know. Unpack it first.`
    )
  const start = headerAt + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  return handle.createReadStream({ start, end: start + size - 1, autoClose: false })
}

async function bytesAt(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start)
  return buffer.subarray(0, bytesRead)
}
