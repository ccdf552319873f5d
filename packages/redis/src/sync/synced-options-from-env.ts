import { type Duration, type LimitOverrides, limitOverrides, SluiceError } from '@sluice/limiter-core'
import { shown } from '@sluice/limiter-core/backend'
import { type SyncOptions, syncTermsOf } from '@sluice/limiter-core/sync'

/** A global limiter as configured by the environment: one policy, and the options of its backend. */
export interface EnvironmentOptions {
  readonly policy: { readonly limit?: number; readonly window?: Duration; readonly overrides?: LimitOverrides }
  readonly options: SyncOptions
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The variable names after the prefix, and the option that each sets: one of `SyncOptions`, unless it belongs to the
 * policy.
 */
const NUMBERS = { BURST: 'burst', FLOOR: 'floor', NODES: 'nodes', MAX_KEYS: 'maxKeys' } as const
const DURATIONS = { TICK: 'tickMs', GAP: 'gapMs', SILENT: 'silentMs', CLOSE: 'closeMs' } as const
const DURATION = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/

/**
 * Options of `syncedBackend`, and the policy to count by it, from variables of the environment that begin with `prefix`
 * (default: `GLOBAL_LIMIT_`): `LIMIT`, `WINDOW`, `TICK`, `GAP`, `SILENT`, `CLOSE` (durations such as `10s`), `BURST`,
 * `FLOOR`, `NODES`, `MAX_KEYS`, `COUNT`, and `OVERRIDES` as `key=limit,key=limit`. One that is not set, or empty, is the
 * default. Throws one `SLUICE_BAD_OPTION` that names every malformed one.
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

/** Reads variables, and collects errors until all are read. */
class EnvironmentReader {
  readonly #prefix: string
  readonly #environment: Environment
  readonly #wrong: string[] = []

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
    if (!isLimit(Number(text))) this.#note(name, text, 'a whole limit from 1')
    return Number(text)
  }

  oneOf(name: string, words: readonly string[]): string | undefined {
    const text = this.text(name)
    if (text !== undefined && !words.includes(text)) this.#note(name, text, `'${words.join("' or '")}'`)
    return text
  }

  duration(name: string): Duration | undefined {
    const text = this.text(name)
    if (text !== undefined && !DURATION.test(text)) this.#note(name, text, "'500ms', '10s' or '1m'")
    return text as Duration | undefined
  }

  /** Parses `key=limit,...`: a key may contain `=`; the limit follows the last one. */
  limits(name: string): Readonly<Record<string, number>> | undefined {
    const items = this.text(name)
      ?.split(',')
      .filter((item) => item.trim() !== '')
    if (!items) return undefined
    const limits = items.map((item) => {
      const at = item.lastIndexOf('=')
      const limit = Number(item.slice(at + 1))
      if (at < 1 || !isLimit(limit)) this.#note(name, item, 'key=limit with a whole limit from 1')
      return [item.slice(0, at).trim(), limit] as const
    })
    return Object.fromEntries(limits)
  }

  /** Adds the error of a check over all options. */
  check(run: () => unknown): void {
    try {
      run()
    } catch (error) {
      // known errors are a sufficient reason to refuse
      if (this.#wrong.length === 0) throw error
    }
  }

  refuse(): void {
    if (this.#wrong.length > 0) throw new SluiceError('SLUICE_BAD_OPTION', this.#wrong.join('; '))
  }

  #note(name: string, got: string, expected: string): void {
    this.#wrong.push(`${this.#prefix}${name}: expected ${expected}, received ${shown(got, 'name')}`)
  }
}
