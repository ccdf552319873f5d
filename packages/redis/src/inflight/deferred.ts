/** Promise of a waiting caller. Only the first answer counts. */
export class Deferred<T> {
  readonly promise: Promise<T>
  #settle!: (answer: T) => void
  #answer: T | undefined

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Whether the caller still waits. */
  get waits(): boolean {
    return this.#answer === undefined
  }

  /** Returns the answer. If there is none yet, creates it with `make` and resolves the promise. */
  answer(make: () => T): T {
    if (this.#answer === undefined) {
      this.#answer = make()
      this.#settle(this.#answer)
    }
    return this.#answer
  }
}
