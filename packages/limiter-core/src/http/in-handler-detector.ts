import { warnOnce } from '../errors/warn-once.ts'

const KEY = Symbol.for('sluice.builtInHandler')

/**
 * Notices limiters that are built while a request is handled: each counts from nothing and limits nobody. One that is
 * used in the very turn in which it was built may be a test; a second one is a pattern.
 */
export class InHandlerDetector {
  static #late = false
  /** Whether it is to be told of requests still. */
  isNew: boolean = !InHandlerDetector.#late

  /** Runs `build`, which makes limiters while a request is handled and for good, once for each part of an application. */
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
