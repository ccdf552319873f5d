import type { SluiceCode } from '../errors/errors.ts'
import { warnAboutLimiter } from '../errors/warn-once.ts'

/**
 * Prints process warnings about one limiter, with its names: once for each `code` and `about`, and at most 100 warnings
 * per code in a process.
 */
export class LimiterWarnings {
  readonly #names: () => readonly string[]
  #printed: Set<string> | undefined

  /** `names` returns the names of the limits. It is called only when a warning is printed. */
  constructor(names: () => readonly string[]) {
    this.#names = names
  }

  once(code: SluiceCode, message: () => string, about = ''): void {
    const mark = `${code} ${about}`
    this.#printed ??= new Set()
    if (this.#printed.has(mark)) return
    this.#printed.add(mark)
    warnAboutLimiter(code, () => {
      const names = this.#names().join(', ')
      return names === '' ? message() : `limiter '${names}': ${message()}`
    })
  }
}
