/** A waiting caller. Only the first answer counts. */
export class Deferred<T> {
  readonly promise: Promise<T>
  #settle!: (answer: T) => void
  #answer: T | undefined

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Whether there is no answer yet. */
  get waits(): boolean {
    return this.#answer === undefined
  }

  /** Returns the answer, created by `make` if there is none yet. */
  answer(make: () => T): T {
    if (this.#answer === undefined) {
      this.#answer = make()
      this.#settle(this.#answer)
    }
    return this.#answer
  }
}
