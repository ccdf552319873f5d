const EVERY_MS = 2

/** Calls `arrive` at a constant rate, whatever the state of earlier calls, as independent clients do. */
export class OpenLoop {
  readonly #perMs: number
  readonly #arrive: (index: number) => void
  readonly #timer: NodeJS.Timeout
  #count = 0
  #at: number = performance.now()
  #due = 0

  constructor(perSecond: number, arrive: (index: number) => void) {
    this.#perMs = perSecond / 1_000
    this.#arrive = arrive
    this.#timer = setInterval(() => this.#turn(), EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #turn(): void {
    const now = performance.now()
    // arrivals that were due while the process was stalled are made up for, each once
    this.#due += Math.min(now - this.#at, 100) * this.#perMs
    this.#at = now
    for (; this.#count < this.#due; this.#count++) this.#arrive(this.#count)
  }
}
