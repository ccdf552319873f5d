import {
  createInflightLimiter,
  type Decision,
  type HttpDenial,
  type Limiter,
  type LocalInflightLimiter,
  type Permit,
} from '@sluice/limiter-core'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'
import {
  compileHeaders,
  type HeaderPlan,
  headerLines,
  httpDenial,
  policyItems,
  rateEntry,
  violatedPolicies,
} from '@sluice/limiter-core/http'
import { wholeWithin } from '../counter-options.ts'
import type { ServiceAnswer } from './service-answer.ts'

export interface CounterServiceLimits {
  /** Asked once for each request, by its token, else by its address. Its owner closes it. Default: none. */
  readonly limiter?: Limiter | undefined
  /** Most requests in progress, 1 to 100,000; one more is answered with 503. Default: 1,000. */
  readonly maxInflight?: number | undefined
}

/** An answer, or the headers of one to come. */
export type TakenRequest =
  | { readonly denied: ServiceAnswer }
  | { readonly denied?: undefined; readonly headers: Readonly<Record<string, string>> }

const CAP = 'counters-inflight'
const CAP_RETRY_MS = 1_000

/** The limits of a service on its own requests. */
export class ServiceLimits {
  readonly #limiter: Limiter | undefined
  readonly #cap: LocalInflightLimiter
  readonly #plan: HeaderPlan = compileHeaders({})

  constructor(limits: CounterServiceLimits = {}) {
    const { limiter, maxInflight = 1_000 } = optionsOf('counterService: limits', limits, ['limiter', 'maxInflight'])
    if (limiter !== undefined && typeof limiter?.take !== 'function') {
      throw badOption('counterService: limits.limiter', limiter, 'what createLimiter makes')
    }
    const limit = wholeWithin('counterService: limits.maxInflight', maxInflight, 100_000)
    this.#limiter = limiter
    this.#cap = createInflightLimiter({ name: CAP, limit })
  }

  /** A place, to be given back; or the answer to one too many. */
  enter(): Permit | ServiceAnswer {
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
    const entry = rateEntry(this.#plan, policyItems(shown), decision)
    // the time of day is for headers that this plan has none of
    return Object.fromEntries(headerLines([entry], () => 0))
  }
}

function denialAnswer(denial: HttpDenial, headers: Readonly<Record<string, string>>): ServiceAnswer {
  const { status, retryAfterSeconds, contentType, body } = denial
  const wait = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
  return {
    status,
    headers: { ...headers, ...wait, 'Content-Type': contentType },
    body: JSON.stringify({ ...JSON.parse(body), code: 'SLUICE_DENIED' }),
  }
}
