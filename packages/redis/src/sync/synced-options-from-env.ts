import { type SyncOptions, syncTermsOf } from '@sluice/fleet/sync'
import { type Duration, type LimitOverrides, limitOverrides, SluiceError } from '@sluice/limiter-core'
import { shown } from '@sluice/limiter-core/backend'

/** Configuration of a global limiter from environment variables: one policy, and the options of `syncedBackend`. */
export interface EnvironmentOptions {
  readonly policy: { readonly limit?: number; readonly window?: Duration; readonly overrides?: LimitOverrides }
  readonly options: SyncOptions
}

type Environment = Readonly<Record<string, string | undefined>>

/** Names of variables without the prefix, and the option of `syncedBackend` that each sets. */
const NUMBERS = { BURST: 'burst', FLOOR: 'floor', NODES: 'nodes', MAX_KEYS: 'maxKeys' } as const
const DURATIONS = { TICK: 'tickMs', GAP: 'gapMs', SILENT: 'silentMs', CLOSE: 'closeMs' } as const
const DURATION = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/

/**
 * Reads a policy and the options of `syncedBackend` from environment variables that begin with `prefix`. Variables that
 * are unset or empty keep the default of their option. Default prefix: `GLOBAL_LIMIT_`.
 *
 * - `LIMIT`, and `OVERRIDES` as `key=limit,key=limit`: integers of at least 1
 * - `WINDOW`, `TICK`, `GAP`, `SILENT`, `CLOSE`: durations such as `10s`
 * - `BURST`, `FLOOR`, `NODES`, `MAX_KEYS`: numbers
 * - `COUNT`: `admitted` or `all`
 *
 * Throws one `SLUICE_BAD_OPTION` that lists all invalid variables.
 */
export function syncedOptionsFromEnv(
  prefix = 'GLOBAL_LIMIT_',
  environment: Environment = process.env,
): EnvironmentOptions {
  const reader = new EnvironmentReader(prefix, environment)
  const options: Record<string, unknown> = {}
  for (const [name, option] of Object.entries(NUMBERS)) options[option] = reader.number(name)
  for (const [name, option] of Object.entries(DURATIONS)) options[option] = reader.duration(name)
  options.count = reader.oneOf('COUNT', ['admitted', 'all'])
  const limits = reader.limits('OVERRIDES')
  const limit = reader.limit('LIMIT')
  const window = reader.duration('WINDOW')
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as SyncOptions
  reader.check(() => syncTermsOf('syncedOptionsFromEnv', given))
  reader.refuse()
  const overrides = limits && limitOverrides({ limits })
  return {
    policy: { ...(limit !== undefined && { limit }), ...(window && { window }), ...(overrides && { overrides }) },
    options: given,
  }
}

function isLimit(limit: number): boolean {
  return Number.isSafeInteger(limit) && limit >= 1
}

/** Reads variables, and collects errors until all variables have been read. */
class EnvironmentReader {
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
    const text = this.text(name)
    if (text === undefined) return undefined
    const number = Number(text)
    if (!Number.isFinite(number)) this.#note(name, text, 'a number')
    return number
  }

  limit(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (!isLimit(Number(text))) this.#note(name, text, 'an integer of at least 1')
    return Number(text)
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
  check(run: () => unknown): void {
    try {
      run()
    } catch (error) {
      // the invalid variables may be the cause, and `refuse` reports them
      if (this.#errors.length === 0) throw error
    }
  }

  /** Throws an error that lists all invalid variables, if there are any. */
  refuse(): void {
    if (this.#errors.length > 0) throw new SluiceError('SLUICE_BAD_OPTION', this.#errors.join('; '))
  }

  #note(name: string, received: string, expected: string): void {
    this.#errors.push(`${this.#prefix}${name}: expected ${expected}, received ${shown(received, 'name')}`)
  }
}
