const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Aborts a signal on SIGINT, SIGTERM, or when another signal is aborted, until it is closed. */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #given: AbortSignal | undefined
  readonly #abort = (): void => this.#controller.abort()

  constructor(given: AbortSignal | undefined) {
    this.#given = given
    if (given?.aborted) this.#abort()
    given?.addEventListener('abort', this.#abort)
    for (const name of SIGNALS) process.on(name, this.#abort)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  close(): void {
    this.#given?.removeEventListener('abort', this.#abort)
    for (const name of SIGNALS) process.off(name, this.#abort)
  }
}
