/** One end of a channel between two processes. */
export interface End {
  send(message: object): void
}

type Message = { id: number; question: object } | { id: number; answer: unknown } | { id: number; failure: string }

/** Asks questions over a channel between two processes, and answers those of the other end. */
export class Line<Question extends object> {
  readonly #end: End
  readonly #answer: (question: Question) => unknown
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>()
  #asked = 0

  constructor(end: End, answer: (question: Question) => unknown) {
    this.#end = end
    this.#answer = answer
  }

  /** Rejects if the other end fails or does not answer in time. */
  async ask<Answer>(question: object, withinMs: number): Promise<Answer> {
    const id = ++this.#asked
    const asked = Promise.withResolvers<unknown>()
    const timer = setTimeout(() => asked.reject(new Error(`No answer came within ${withinMs} ms.`)), withinMs)
    this.#open.set(id, asked)
    try {
      this.#end.send({ id, question })
      return (await asked.promise) as Answer
    } finally {
      clearTimeout(timer)
      this.#open.delete(id)
    }
  }

  /** Sends a question whose answer is not needed. */
  tell(question: object): void {
    this.#end.send({ id: 0, question })
  }

  /** Takes a message from the channel. */
  async receive(message: unknown): Promise<void> {
    const { id, ...rest } = message as Message
    if ('question' in rest) return this.#respond(id, rest.question as Question)
    const asked = this.#open.get(id)
    if ('failure' in rest) asked?.reject(new Error(rest.failure))
    else asked?.resolve((rest as { answer: unknown }).answer)
  }

  async #respond(id: number, question: Question): Promise<void> {
    try {
      const answer = await this.#answer(question)
      if (id > 0) this.#end.send({ id, answer })
    } catch (error) {
      if (id > 0) this.#end.send({ id, failure: (error as Error).message })
    }
  }
}
