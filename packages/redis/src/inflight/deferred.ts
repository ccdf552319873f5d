/** Somebody who waits for an answer. The first answer counts. */
export class Deferred<T> {
  readonly promise: Promise<T>
  #settle!: (answer: T) => void
  #answer: T | undefined

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** True as long as there is no answer. */
  get waits(): boolean {
    return this.#answer === undefined
  }

  /** The answer, which is made here where there is none yet. */
  answer(make: () => T): T {
    if (this.#answer === undefined) {
      this.#answer = make()
      this.#settle(this.#answer)
    }
    return this.#answer
  }
}
