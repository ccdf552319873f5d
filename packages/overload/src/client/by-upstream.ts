import type { KeyResult, LabelledKeySource } from '@sluice/limiter-core'
import { andThen, badOption, joinedKey, kindOf } from '@sluice/limiter-core/backend'

/** The upstream of a request of a gateway. */
export interface UpstreamParts {
  /** Client or tenant of the gateway. */
  readonly customer?: string | number | undefined
  /** Address of the server that receives the request. */
  readonly address?: string | number | undefined
  /** Host name that the request is for. */
  readonly host?: string | number | undefined
}

const PARTS = ['customer', 'address', 'host'] as const

/**
 * Counts requests of a gateway by their upstream: the combination of those parts that are not undefined. If all are
 * undefined, the client address is counted and the fallback is reported. Throws `SLUICE_BAD_OPTION`.
 */
export function byUpstream<Raw>(
  upstream: (request: Raw) => UpstreamParts | undefined | Promise<UpstreamParts | undefined>,
): LabelledKeySource<Raw> {
  if (typeof upstream !== 'function') throw badOption('byUpstream', upstream, 'a function of the request')
  const source = (request: Raw): KeyResult | Promise<KeyResult> => andThen(upstream(request), keyOf)
  return Object.assign(source, { label: 'upstream' })
}

function keyOf(parts: UpstreamParts | undefined): KeyResult {
  const named = PARTS.flatMap((name) => {
    const value: unknown = parts?.[name] ?? undefined
    if (value === undefined) return []
    // the text of an object is the same for all objects
    if (typeof value !== 'string' && !Number.isFinite(value)) {
      throw new TypeError(`byUpstream: ${name}: expected a string or a number, received ${kindOf(value)}`)
    }
    return [name, String(value)]
  })
  return named.length === 0 ? undefined : joinedKey(...named)
}
