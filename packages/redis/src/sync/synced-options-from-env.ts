import { type SyncOptions, syncTermsOf } from '@sluice/fleet/sync'
import { type Duration, type LimitOverrides, limitOverrides } from '@sluice/limiter-core'
import { type Environment, EnvironmentReader } from '@sluice/limiter-core/backend'

/** Configuration of a global limiter from environment variables: one policy, and the options of `syncedBackend`. */
export interface EnvironmentOptions {
  readonly policy: { readonly limit?: number; readonly window?: Duration; readonly overrides?: LimitOverrides }
  readonly options: SyncOptions
}

/** Names of variables without the prefix, and the option of `syncedBackend` that each sets. */
const NUMBERS = { BURST: 'burst', FLOOR: 'floor', NODES: 'nodes', MAX_KEYS: 'maxKeys' } as const
const DURATIONS = { TICK: 'tickMs', GAP: 'gapMs', SILENT: 'silentMs', CLOSE: 'closeMs' } as const

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
