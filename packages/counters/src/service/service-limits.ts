import {
  createInflightLimiter,
  type Decision,
  type HttpDenial,
  type Limiter,
  type LocalInflightLimiter,
  type Permit,
} from '@sluice/limiter-core'
import { badOption, integerFrom, optionsOf } from '@sluice/limiter-core/backend'
import {
  DRAFT_HEADERS,
  headerLines,
  httpDenial,
  policyItems,
  rateEntry,
  violatedPolicies,
} from '@sluice/limiter-core/http'
import type { ServiceResponse } from './service-response.ts'

export interface CounterServiceLimits {
  /**
   * Limiter called once for each request, keyed by token, or by address if there is none. The service does not close
   * it. Default: none.
   */
  readonly limiter?: Limiter | undefined
  /** Maximum number of requests in progress, 1 to 100,000; further requests receive status 503. Default: 1,000. */
  readonly maxInflight?: number | undefined
}

/** Response of a denied request, or headers for the response of an allowed one. */
export type TakenRequest =
  | { readonly denied: ServiceResponse }
  | { readonly denied?: undefined; readonly headers: Readonly<Record<string, string>> }

const CAP = 'counters-inflight'
const CAP_RETRY_MS = 1_000

/** Rate limit and in-flight cap of the service itself. */
export class ServiceLimits {
  readonly #limiter: Limiter | undefined
  readonly #cap: LocalInflightLimiter

  constructor(limits: CounterServiceLimits = {}) {
    const { limiter, maxInflight = 1_000 } = optionsOf('counterService: limits', limits, ['limiter', 'maxInflight'])
    if (limiter !== undefined && typeof limiter?.take !== 'function') {
      throw badOption('counterService: limits.limiter', limiter, 'a limiter such as createLimiter()')
    }
    const limit = integerFrom('counterService: limits.maxInflight', maxInflight, 1, 100_000)
    this.#limiter = limiter
    this.#cap = createInflightLimiter({ name: CAP, limit })
  }

  /** Returns a permit, which must be released, or the response if too many requests are in progress. */
  acquire(): Permit | ServiceResponse {
    return this.#cap.acquire() ?? denialAnswer(httpDenial(503, [CAP], CAP_RETRY_MS), {})
  }

  async take(key: string): Promise<TakenRequest> {
    if (!this.#limiter) return { headers: {} }
    const decision = await this.#limiter.take(key)
    const headers = this.#headers(decision)
    if (decision.allowed) return { headers }
    return { denied: denialAnswer(httpDenial(429, violatedPolicies(decision), decision.retryAfterMs), headers) }
  }

  #headers(decision: Decision): Record<string, string> {
    const shown = decision.verdicts.filter(({ shadow }) => !shadow).map(({ policy }) => policy)
    const entry = rateEntry(DRAFT_HEADERS, policyItems(shown), decision)
    // the time of day is not used: this plan has no header that needs it
    return Object.fromEntries(headerLines([entry], () => 0))
  }
}

function denialAnswer(denial: HttpDenial, headers: Readonly<Record<string, string>>): ServiceResponse {
  const { status, retryAfterSeconds, contentType, body } = denial
  const wait = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
  return {
    status,
    headers: { ...headers, ...wait, 'Content-Type': contentType },
    body: JSON.stringify({ ...JSON.parse(body), code: 'SLUICE_DENIED' }),
  }
}
