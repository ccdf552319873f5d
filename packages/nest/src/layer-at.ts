import {
  DEFAULT_NAMES,
  errorAt,
  type HttpLimit,
  type LimitLayer,
  type RateLimitOptions,
  SluiceError,
} from '@sluice/node-http/adapter'
import type { DeclaredLimits, NestLayer } from './declared-limits.ts'
import type { PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'

type Limits = readonly HttpLimit<PlatformRequest, PlatformResponse>[]

/** Limits of one handler. */
export interface HandlerLimits {
  /** Load shedding, rate limits and slow-downs, checked by the guard. */
  readonly rates: Limits
  /** Caps, checked by the interceptor. */
  readonly caps: Limits
}

export type NestLimitLayer = LimitLayer<PlatformRequest, PlatformResponse>
export type NestRateOptions = RateLimitOptions<PlatformRequest, PlatformResponse>

/** Returns the options of a named policy. Throws `SLUICE_UNKNOWN_POLICY` if the module has no such policy. */
export type PolicyNamed = (name: string) => NestRateOptions

/**
 * Creates the layer of a class or method from its decorators. Removals (`false`, `@SkipLimits`) apply first, regardless
 * of the order of the decorators. Throws coded errors that name the route scope.
 */
export function layerAt(
  routeScope: string,
  above: NestLimitLayer,
  declared: readonly DeclaredLimits[],
  policyNamed: PolicyNamed,
): NestLimitLayer {
  try {
    const own = declared.map(({ policy, ...layer }) =>
      policy === undefined ? layer : { rateLimit: policyNamed(policy) },
    )
    checkNames(own)
    const removed = removedBy(own)
    const bare = removed ? above.extend(removed, routeScope) : above
    return own.filter(isLimit).reduce((layer, one) => layer.extend(one, routeScope, bare), bare)
  } catch (error) {
    throw typeof (error as Partial<SluiceError>).code === 'string' ? errorAt(routeScope, error) : error
  }
}

const KINDS = ['shed', 'rateLimit', 'slowDown', 'inflightLimit'] as const

function isLimit(layer: NestLayer): boolean {
  return KINDS.some((kind) => layer[kind])
}

function removedBy(declared: readonly NestLayer[]): NestLayer | undefined {
  const removed = KINDS.filter((kind) => declared.some((layer) => layer[kind] === false))
  const skips = declared.flatMap(({ skipLimits }) => (skipLimits === undefined ? [] : [skipLimits]))
  if (removed.length + skips.length === 0) return undefined
  const skipLimits = skips.includes(true) ? true : (skips as (readonly string[])[]).flat()
  return { ...Object.fromEntries(removed.map((kind) => [kind, false])), skipLimits }
}

/** Throws if two decorators of a class or method use the same name: the second limit would replace the first one. */
function checkNames(declared: readonly NestLayer[]): void {
  for (const kind of KINDS) {
    const seen = new Set<unknown>()
    for (const name of declared.flatMap((layer) => namesOf(layer[kind] || undefined, DEFAULT_NAMES[kind]))) {
      if (seen.has(name)) {
        throw new SluiceError('SLUICE_DUPLICATE_POLICY', `${kind}: expected unique names, received two named '${name}'`)
      }
      seen.add(name)
    }
  }
}

function namesOf(options: object | undefined, unnamed: string): unknown[] {
  if (!options) return []
  const { policies, plans, name } = options as { policies?: unknown; plans?: unknown; name?: unknown }
  if (plans !== undefined) return []
  // policies of a document are an object with the current ones
  const list = (policies as { current?: unknown } | undefined)?.current ?? policies
  const named = Array.isArray(list) ? list : [{ name }]
  return named.map((policy) => policy?.name ?? unnamed)
}
