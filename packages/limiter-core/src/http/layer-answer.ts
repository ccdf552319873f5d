import { compileHeaders, type HeaderPlan } from './header-dialect.ts'
import { compilePartitionKey } from './partition-key.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'
import { parseStatus } from './request-rules.ts'

/** How a layer answers for its policies, and for no others: what headers say of them, and what a denial by them is. */
export interface LayerAnswer<Req, Res> {
  readonly headers: HeaderPlan
  readonly partition: ((key: string) => string) | undefined
  readonly status: number
  /** For the adapter: `denied`, and its own options. */
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

/** Whether a layer has an answer of its own, or that of the layer above it. */
export function hasOwnAnswer(options: Readonly<Record<string, unknown>>, adapterOptions: readonly string[]): boolean {
  return [...ANSWER_OPTIONS, ...adapterOptions].some((name) => options[name] !== undefined)
}
