import { warnOnce } from '@sluice/limiter-core/http'

const KEY = Symbol.for('sluice.createdInHandler')
/** Maximum number of places in the code that a process remembers. */
const MAX_PLACES = 1_000

/**
 * Detects limiters that are created while a request is handled. Their counts start empty each time, so they limit
 * nothing. The sign is a limiter that checks a request in the same turn of the event loop in which it was created.
 * A test may create one and use it at once, so the warning is issued for the second that the same code creates.
 */
export class InHandlerDetector {
  static #suppressed = false
  /** The calls that led to the creation. */
  readonly #createdBy = String(new Error('created').stack)
  /** Whether the limiter was created in the current turn of the event loop. Call `used` if it then checks a request. */
  isNew: boolean = !InHandlerDetector.#suppressed

  /** Runs `build` without detection, for limiters that are created once, when the first request reaches a route. */
  static suppress<T>(build: () => T): T {
    InHandlerDetector.#suppressed = true
    try {
      return build()
    } finally {
      InHandlerDetector.#suppressed = false
    }
  }

  constructor() {
    // a microtask and not a timer, because fake timers do not affect promises
    Promise.resolve().then(() => {
      this.isNew = false
    })
  }

  /** Records that the limiter checked a request while `isNew`. Warns once, the second time for the same code. */
  recordUse(): void {
    this.isNew = false
    const home = globalThis as { [KEY]?: Set<string> }
    home[KEY] ??= new Set()
    if (!home[KEY].has(this.#createdBy)) {
      if (home[KEY].size < MAX_PLACES) home[KEY].add(this.#createdBy)
      return
    }
    warnOnce(
      'SLUICE_LIMITER_IN_HANDLER',
      'a limiter was created while a request was handled: its counts start empty each time, so it limits nothing; ' +
        'create limiters once, at startup',
    )
  }
}
