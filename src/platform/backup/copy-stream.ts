import pg from 'pg'

/** How much is read ahead before the server has to wait, and how large a piece is at most. */
const mostHeld = 1_048_576
const pieceBytes = 262_144

interface Wire {
  stream: NodeJS.ReadWriteStream & { writableNeedDrain: boolean; destroy(): void }
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

interface Completed {
  rowCount: number | null
}

/** The query of pg, which passes the messages of a COPY to methods that do nothing. */
const Query = pg.Query as unknown as new (
  text: string,
  values: undefined,
  done: (error: Error | null, result?: Completed) => void
) => pg.Submittable

/** Ends a session in the middle of a COPY: a polite end would wait for the rest of it. */
export function cut(client: pg.Client): void {
  ;(client as unknown as { connection: Wire }).connection.stream.destroy()
}

/** Rows of `copy … to stdout`, as they arrive, in bounded memory. */
class CopyOut extends Query {
  /** pg has another use for `rows`. */
  count = 0
  #pieces: Buffer[] = []
  #held = 0
  #filling = Buffer.allocUnsafe(pieceBytes)
  #used = 0
  #wire: Wire | undefined
  #end: { error: Error | null } | undefined
  #wake = () => {}

  constructor(text: string) {
    super(text, undefined, (error, result) => {
      // After an error, pg reports the end of the query too.
      const short = !error && result?.rowCount !== this.count
      this.#end ??= { error: short ? new Error(`${this.count} of ${result?.rowCount} rows arrived`) : error }
      this.#flush()
      this.#wake()
    })
  }

  /** The server sends each row as one message. Its bytes belong to the parser, so they are copied. */
  handleCopyData({ chunk }: { chunk: Buffer }, wire: Wire): void {
    this.count += 1
    this.#wire = wire
    for (let from = 0; from < chunk.length; ) {
      const taken = chunk.copy(this.#filling, this.#used, from)
      from += taken
      this.#used += taken
      if (this.#used === pieceBytes) this.#flush()
    }
    if (this.#held >= mostHeld) wire.stream.pause()
    if (this.#pieces.length > 0) this.#wake()
  }

  #flush(): void {
    if (this.#used === 0) return
    this.#pieces.push(this.#filling.subarray(0, this.#used))
    this.#held += this.#used
    this.#filling = Buffer.allocUnsafe(pieceBytes)
    this.#used = 0
  }

  async next(): Promise<Buffer | undefined> {
    while (this.#pieces.length === 0 && !this.#end) {
      this.#wire?.stream.resume()
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
    if (this.#end?.error) throw this.#end.error
    const piece = this.#pieces.shift()
    this.#held -= piece?.length ?? 0
    return piece
  }
}

/** Yields the rows of `copy … to stdout` in pieces that end anywhere, and returns their number. */
export async function* copyOut(client: pg.Client, text: string): AsyncGenerator<Buffer, number> {
  const out = new CopyOut(text)
  client.query(out)
  let whole = false
  try {
    for (;;) {
      const piece = await out.next()
      if (!piece) break
      yield piece
    }
    whole = true
    return out.count
  } finally {
    if (!whole) cut(client)
  }
}

class CopyIn extends Query {
  readonly #pieces: AsyncIterable<Buffer>
  #over = false
  #failure: Error | undefined

  constructor(text: string, pieces: AsyncIterable<Buffer>, done: (error: Error | null, rows: number) => void) {
    super(text, undefined, (error, result) => {
      this.#over = true
      done(this.#failure ?? error, result?.rowCount ?? 0)
    })
    this.#pieces = pieces
  }

  handleCopyInResponse(wire: Wire): void {
    this.#send(wire).catch((error: Error) => {
      this.#failure = error
      if (!this.#over) wire.sendCopyFail(error.message)
    })
  }

  async #send(wire: Wire): Promise<void> {
    for await (const piece of this.#pieces) {
      // The server has refused a row: it ignores the rest.
      if (this.#over) return
      wire.sendCopyFromChunk(piece)
      if (wire.stream.writableNeedDrain) await drained(wire.stream)
    }
    if (!this.#over) wire.endCopyFrom()
  }
}

const drained = (stream: Wire['stream']) =>
  new Promise<void>((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })

/** Sends pieces of rows to `copy … from stdin`, and returns the number of rows. */
export function copyIn(client: pg.Client, text: string, pieces: AsyncIterable<Buffer>): Promise<number> {
  return new Promise((resolve, reject) => {
    client.query(new CopyIn(text, pieces, (error, rows) => (error ? reject(error) : resolve(rows))))
  })
}
