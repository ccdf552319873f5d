import { compileHeaders, type HeaderPlan } from './header-dialect.ts'
import { compilePartitionKey } from './partition-key.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import { parseStatus } from './request-rules.ts'

/**
 * How one layer (application, class or route) answers for its own policies: their headers and the response of their
 * denials.
 */
export interface LayerAnswer<Req, Res> {
  readonly headers: HeaderPlan
  readonly partition: ((key: string) => string) | undefined
  readonly status: number
  /** The options of the layer, for the adapter: `denied` and adapter options. */
  readonly options: RateLimitOptions<Req, Res>
}

const ANSWER_OPTIONS = ['headers', 'headersOn', 'legacy', 'partitionKey', 'status', 'denied'] as const

/** Throws coded errors for options that are wrong. */
export function compileAnswer<Req, Res>(options: RateLimitOptions<Req, Res>): LayerAnswer<Req, Res> {
  return {
    headers: compileHeaders(options),
    partition: compilePartitionKey(options.partitionKey),
    status: parseStatus(options.status ?? 429),
    options,
  }
}

/** Whether a layer overrides how denials are answered, or uses the answer of the layer above. */
export function hasOwnAnswer(options: Readonly<Record<string, unknown>>, adapterOptions: readonly string[]): boolean {
  return [...ANSWER_OPTIONS, ...adapterOptions].some((name) => options[name] !== undefined)
}
