import type { HeaderPlan } from '@sluice/limiter-core/http'
import { compileHeaders } from '../headers/compile-headers.ts'
import { compilePartitionKey } from './options/partition-key.ts'
import type { RateLimitOptions } from './options/rate-limit-options.ts'
import { parseStatus } from './options/request-rules.ts'

/**
 * How one layer (application, class or route) presents its own policies to clients: headers and the response to denied
 * requests.
 */
export interface ResponseSettings<Req, Res> {
  readonly headers: HeaderPlan
  readonly partition: ((key: string) => string) | undefined
  readonly status: number
  /** The options of the layer, of which the adapter reads `denied` and its own options. */
  readonly options: RateLimitOptions<Req, Res>
}

const ANSWER_OPTIONS = ['headers', 'headersOn', 'legacy', 'partitionKey', 'status', 'denied', 'message'] as const

/** Validates the response options. Throws a `SluiceError` for invalid ones. */
export function compileResponse<Req, Res>(options: RateLimitOptions<Req, Res>): ResponseSettings<Req, Res> {
  return {
    headers: compileHeaders(options),
    partition: compilePartitionKey(options.partitionKey),
    status: parseStatus(options.status === undefined ? 429 : options.status),
    options,
  }
}

/** Whether a layer sets response options. Otherwise it inherits the response options of the layer above. */
export function hasOwnResponse(options: Readonly<Record<string, unknown>>, adapterOptions: readonly string[]): boolean {
  return [...ANSWER_OPTIONS, ...adapterOptions].some((name) => options[name] !== undefined)
}
