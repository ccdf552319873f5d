import { warnOnce } from '../errors/warn-once.ts'

const KEY = Symbol.for('sluice.builtInHandler')

/**
 * Detects limiters that are created while a request is handled: each of them starts from zero and limits nothing. A
 * single limiter that is used in the turn in which it was created may be a test; a second one is a pattern.
 */
export class InHandlerDetector {
  static #late = false
  /** Whether the limiter still needs to be checked when requests arrive. */
  isNew: boolean = !InHandlerDetector.#late

  /** Runs `build`, which creates permanent limiters for a part of an application while a request is handled. */
  static late<T>(build: () => T): T {
    InHandlerDetector.#late = true
    try {
      return build()
    } finally {
      InHandlerDetector.#late = false
    }
  }

  constructor() {
    // a microtask, since fake timers leave promises alone
    Promise.resolve().then(() => {
      this.isNew = false
    })
  }

  used(): void {
    this.isNew = false
    const home = globalThis as { [KEY]?: number }
    home[KEY] = (home[KEY] ?? 0) + 1
    if (home[KEY] < 2) return
    warnOnce(
      'SLUICE_LIMITER_IN_HANDLER',
      'a limiter was built while a request was handled, and counts from nothing: build it once, at start-up',
    )
  }
}
