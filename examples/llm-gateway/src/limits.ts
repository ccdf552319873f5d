import { byPrincipal, inflightLimit, type Observer, rateLimit } from '@sluice/express'
import { quota } from '@sluice/quotas'
import { learnedReserve } from '@sluice/quotas/budgets'
import type { Request, Response } from 'express'
import { customerOf } from './customers.ts'
import { type Meter, prices, promptTokens } from './meter.ts'
import type { Counts } from './store.ts'

export interface LimitSettings {
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  /** Dollars per calendar month of `timeZone`, such as '25.00'. */
  readonly budget: string
  /** Default: `UTC`. */
  readonly timeZone?: string | undefined
  /** Calls to the upstream at the same time. */
  readonly inflight: number
  /** Time after which the reservation of a crashed process returns. Running streams renew theirs. */
  readonly maxHoldMs: number
}

/** What a call cost in the end. A call that never reached its model costs nothing. */
const meterOf = (res: Response): Meter | undefined => res.locals.meter

/** Reserves the 95th percentile of the tokens that calls of the same model have used. */
const learned = learnedReserve({
  by: (req: Request) => req.body.model,
  initial: 300,
  max: 4_000,
  settle: (_req: Request, res: Response) => meterOf(res)?.tokens ?? 0,
})

/** Limits of each customer: requests, tokens and money. All of them admit a call, or none is charged. */
export function customerLimits(settings: LimitSettings, { backend, quotas }: Counts, observers: readonly Observer[]) {
  const { requestsPerMinute, tokensPerMinute, budget, timeZone, maxHoldMs } = settings
  const limit = prices.amount(budget)
  return rateLimit({
    key: byPrincipal(customerOf),
    backend,
    // a call takes seconds: wait for a busy database rather than decide without it
    deadlineMs: 5_000,
    observers,
    headers: 'openai',
    message: (_req, { denial, decision }) => ({
      error: {
        type: 'rate_limit_error',
        code: decision?.binding.policy.name === 'budget' ? 'insufficient_quota' : 'rate_limit_exceeded',
        message: `Limit '${decision?.binding.policy.name}' reached. Try again in ${denial.retryAfterSeconds} s.`,
      },
    }),
    policies: [
      { name: 'requests', limit: requestsPerMinute, window: '1m' },
      {
        name: 'tokens',
        algorithm: 'token-bucket',
        limit: tokensPerMinute,
        window: '1m',
        unit: 'tokens',
        maxHoldMs,
        cost: { ...learned.cost, extend: 'stream' },
      },
      {
        ...quota({ name: 'budget', limit, per: 'month', timeZone, unit: prices.unit, maxHoldMs, backend: quotas }),
        cost: {
          reserve: (req) => prices.costOf(req.body.model, { input: promptTokens(req), output: 100 }),
          settle: (_req, res) => meterOf(res)?.cost ?? 0,
          settleOn: 'always',
          extend: 'stream',
        },
      },
    ],
  })
}

/** Calls to one upstream at the same time. While it is full, interactive calls are admitted before batch jobs. */
export function upstreamCap(name: string, { inflight }: LimitSettings, observers: readonly Observer[]) {
  return inflightLimit({
    name,
    limit: inflight,
    // a gateway that the internet can reach must derive it from the API key instead
    priority: (req) => (req.get('x-priority') === 'batch' ? 'low' : 'high'),
    queue: { max: 2 * inflight, maxWaitMs: 5_000 },
    headers: 'openai',
    observers,
  })
}
