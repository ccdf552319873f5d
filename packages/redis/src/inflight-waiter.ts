/** Somebody who waits for an answer. The first answer counts. */
export class Waiter<T> {
  readonly come: Promise<T>
  #settle!: (answer: T) => void
  #answer: T | undefined

  constructor() {
    this.come = new Promise((resolve) => {
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
