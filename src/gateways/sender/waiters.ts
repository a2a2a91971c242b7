interface Sizes {
  size: number
  urgentSize: number
}

/** Callers that wait for room in a queue; urgent ones come first. */
export class Waiters {
  readonly #urgent: (() => void)[] = []
  readonly #others: (() => void)[] = []

  wait(urgent: boolean): Promise<void> {
    return new Promise<void>((wake) => (urgent ? this.#urgent : this.#others).push(wake))
  }

  get waiting(): boolean {
    return this.#urgent.length + this.#others.length > 0
  }

  /** Wakes as many callers as there is room for, so that a thousand do not compete for one place. */
  wake({ size, urgentSize }: Sizes, limit: number): void {
    const roomFor = (queued: number) => (queued > limit / 2 ? 0 : limit - queued)
    for (const wake of this.#urgent.splice(0, roomFor(urgentSize))) wake()
    for (const wake of this.#others.splice(0, roomFor(size))) wake()
  }
}
