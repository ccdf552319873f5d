import {
  badOption,
  type Clock,
  clockOf,
  type Duration,
  optionalBoolean,
  optionalFunction,
  optionsOf,
  parseDuration,
  SluiceError,
} from '@sluice/http'
import { LoadedPolicies } from './loaded-policies.ts'
import type { AttributeFunctions } from './requests/request-attributes.ts'
import { fileSource } from './source/file-source.ts'
import type { PolicySource } from './source/policy-source.ts'

/** Options of `policies` and `loadPolicies`. */
export interface PoliciesOptions<Req, Res> {
  /**
   * Functions by the name of the attribute that they return. `address`, `method`, `route` (as in `GET /teams/:team`) and
   * headers (`header:x-plan`) need none. Default: no further attributes.
   */
  readonly attributes?: AttributeFunctions<Req, Res> | undefined
  /** Whether changes of the document are applied while the limiters run. Default: false. */
  readonly watch?: boolean | undefined
  /** Interval at which a watched source is checked, from 100 ms. Files are also watched by events. Default: 10 s. */
  readonly intervalMs?: Duration | undefined
  readonly clock?: Clock | undefined
}

/** The option `policies` of `rateLimit`: `rateLimit(policies('policies.yaml'))`. */
export interface PolicyOptions<Req extends object, Res> {
  readonly policies: LoadedPolicies<Req, Res>
}

const OPTIONS: readonly (keyof PoliciesOptions<unknown, unknown>)[] = ['attributes', 'watch', 'intervalMs', 'clock']
const DEFAULT_INTERVAL_MS = 10_000
const MIN_INTERVAL_MS = 100

/**
 * Returns the policies of a document for `rateLimit`. `source`: the path of a file, or a source that can be read
 * synchronously; use `loadPolicies` for the others. Throws `PolicyFileError` if the document is invalid, and
 * `SLUICE_POLICIES_UNREADABLE` or `SLUICE_BAD_OPTION`.
 */
export function policies<Req extends object, Res>(
  source: string | PolicySource,
  options: PoliciesOptions<Req, Res> = {},
): PolicyOptions<Req, Res> {
  const settings = settingsOf('policies', options)
  const from = sourceOf('policies', source)
  if (!from.readSync) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `policies: expected a file, received ${from.name}; use await loadPolicies(…) for other sources`,
    )
  }
  return watched(LoadedPolicies.loadSync(from, from.readSync(), settings.attributes), settings)
}

/** Same as `policies`, for all sources. Rejects if the document cannot be read, or is invalid. */
export async function loadPolicies<Req extends object, Res>(
  source: string | PolicySource,
  options: PoliciesOptions<Req, Res> = {},
): Promise<PolicyOptions<Req, Res>> {
  const settings = settingsOf('loadPolicies', options)
  const from = sourceOf('loadPolicies', source)
  // a source that has not been read yet returns its text
  const text = (await from.read()) ?? ''
  return watched(await LoadedPolicies.load(from, text, settings.attributes), settings)
}

interface Settings<Req, Res> {
  readonly attributes: AttributeFunctions<Req, Res>
  readonly watch: boolean
  readonly intervalMs: number
  readonly clock: Clock
}

function watched<Req extends object, Res>(
  policies: LoadedPolicies<Req, Res>,
  { watch, intervalMs, clock }: Settings<Req, Res>,
): PolicyOptions<Req, Res> {
  if (watch) policies.watch({ clock, intervalMs })
  return { policies }
}

function sourceOf(caller: string, source: string | PolicySource): PolicySource {
  if (typeof source === 'string') return fileSource(source)
  if (typeof source?.read === 'function' && typeof source.watch === 'function') return source
  throw badOption(caller, source, 'the path of a file, or a source such as urlSource(…)')
}

function settingsOf<Req, Res>(caller: string, options: PoliciesOptions<Req, Res>): Settings<Req, Res> {
  const { attributes = {}, watch, intervalMs, clock } = optionsOf(caller, options, OPTIONS)
  for (const [name, read] of Object.entries(attributes)) optionalFunction(`${caller}: attributes.${name}`, read)
  return {
    attributes,
    watch: optionalBoolean(`${caller}: watch`, watch),
    intervalMs: intervalOf(caller, intervalMs),
    clock: clockOf(clock),
  }
}

function intervalOf(caller: string, value: Duration | undefined): number {
  if (value === undefined) return DEFAULT_INTERVAL_MS
  const intervalMs = parseDuration(value, `${caller}: intervalMs`)
  if (intervalMs >= MIN_INTERVAL_MS) return intervalMs
  throw badOption(`${caller}: intervalMs`, value, `at least ${MIN_INTERVAL_MS} ms`)
}
