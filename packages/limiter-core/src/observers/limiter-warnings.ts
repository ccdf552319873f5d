import type { SluiceCode } from '../errors/errors.ts'
import { warnOfLimiter } from '../errors/warn-once.ts'

/** Warns on stderr about one limiter, by its names: once for each code and `about`, the first 100 limiters of a process. */
export class LimiterWarnings {
  readonly #names: () => readonly string[]
  #given: Set<string> | undefined

  /** `names` returns the names of the limits; called when there is something to warn about. */
  constructor(names: () => readonly string[]) {
    this.#names = names
  }

  once(code: SluiceCode, message: () => string, about = ''): void {
    const mark = `${code} ${about}`
    this.#given ??= new Set()
    if (this.#given.has(mark)) return
    this.#given.add(mark)
    warnOfLimiter(code, () => {
      const names = this.#names().join(', ')
      return names === '' ? message() : `limiter '${names}': ${message()}`
    })
  }
}
