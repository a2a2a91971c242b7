/** Counts things under way, without a promise for each. */
export class Pending {
  #count = 0
  #waiting: (() => void)[] = []

  add(): void {
    this.#count += 1
  }

  remove(): void {
    this.#count -= 1
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when nothing is under way. */
  none(): Promise<void> | undefined {
    return this.#count === 0 ? undefined : new Promise((resolve) => this.#waiting.push(resolve))
  }
}
