import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import type { Duration } from '../time/duration.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

const DURATION = /^\d+(?:\.\d+)?(?:ms|s|m|h|d|w)$/

function isLimit(limit: number): boolean {
  return Number.isSafeInteger(limit) && limit >= 1
}

/** Reads variables, and collects errors until all variables have been read. */
export class EnvironmentReader {
  readonly #prefix: string
  readonly #environment: Environment
  readonly #errors: string[] = []

  constructor(prefix: string, environment: Environment) {
    this.#prefix = prefix
    this.#environment = environment
  }

  text(name: string): string | undefined {
    return this.#environment[this.#prefix + name]?.trim() || undefined
  }

  number(name: string): number | undefined {
    return this.#number(name, Number.isFinite, 'a number')
  }

  limit(name: string): number | undefined {
    return this.#number(name, isLimit, 'an integer of at least 1')
  }

  oneOf(name: string, words: readonly string[]): string | undefined {
    const text = this.text(name)
    if (text !== undefined && !words.includes(text)) this.#note(name, text, `'${words.join("' or '")}'`)
    return text
  }

  duration(name: string): Duration | undefined {
    const text = this.text(name)
    if (text !== undefined && !DURATION.test(text)) this.#note(name, text, "a duration such as '500ms', '10s' or '1m'")
    return text as Duration | undefined
  }

  /** Parses `key=limit,key=limit`. The limit follows the last `=`, so a key may contain `=`. */
  limits(name: string): Readonly<Record<string, number>> | undefined {
    const items = this.text(name)
      ?.split(',')
      .filter((item) => item.trim() !== '')
    if (!items) return undefined
    const limits = items.map((item) => {
      const at = item.lastIndexOf('=')
      const limit = Number(item.slice(at + 1))
      if (at < 1 || !isLimit(limit)) this.#note(name, item, 'key=limit with an integer of at least 1')
      return [item.slice(0, at).trim(), limit] as const
    })
    return Object.fromEntries(limits)
  }

  /** Runs a check of all options. Its error is thrown only if no variable was invalid. */
  check<T>(run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      // the invalid variables may be the cause, and `refuse` reports them
      if (this.#errors.length === 0) throw error
      return undefined
    }
  }

  /** Throws an error that lists all invalid variables, if there are any. */
  refuse(): void {
    if (this.#errors.length > 0) throw new SluiceError('SLUICE_BAD_OPTION', this.#errors.join('; '))
  }

  #number(name: string, isValid: (number: number) => boolean, expected: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (!isValid(Number(text))) this.#note(name, text, expected)
    return Number(text)
  }

  #note(name: string, received: string, expected: string): void {
    this.#errors.push(`${this.#prefix}${name}: expected ${expected}, received ${shown(received, 'name')}`)
  }
}
