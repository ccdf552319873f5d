import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  Birth,
  clockOf,
  isPromise,
  type Limiter,
  type RateCheck,
  RateGuard,
  type RateLimitOptions,
} from '@sluice/limiter-core'
import { afterCheck } from './after-check.ts'
import { type AnswerOptions, answerDenied } from './answer-denied.ts'
import {
  type ConnectHandler,
  type ConnectHost,
  type ConnectMiddleware,
  lastOfAll,
  type Next,
  type WrappedHandler,
} from './connect-host.ts'
import { writeHeaderLines } from './denial-writer.ts'
import { RequestLifecycle } from './request-lifecycle.ts'

/** Middleware that limits rates. */
export interface RateLimitMiddleware<Req, Res> extends ConnectMiddleware<Req, Res> {
  /** The limiter behind it (of the first plan): to peek, charge and reset outside of requests. */
  readonly limiter: Limiter
  close(): void
}

/** The `rateLimit` of a framework. */
export function rateLimitFor<Req extends IncomingMessage, Res extends ServerResponse>(
  host: ConnectHost<Req>,
): (options: RateLimitOptions<Req, Res>) => RateLimitMiddleware<Req, Res> {
  return (options) => {
    const limit = new RequestRate(host, options)
    const middleware = (req: Req, res: Res, next: Next): void => {
      limit.run(req, res, next)
    }
    const wrap =
      (handler: ConnectHandler<Req, Res>): WrappedHandler<Req, Res> =>
      (req, res, next = lastOfAll) =>
        limit.run(req, res, (error) => (error === undefined ? handler(req, res, next) : next(error)), next)
    return Object.assign(middleware, { wrap, limiter: limit.guard.limiter(), close: () => limit.guard.close() })
  }
}

class RequestRate<Req extends IncomingMessage, Res extends ServerResponse> {
  readonly guard: RateGuard<Req, Res>
  readonly #host: ConnectHost<Req>
  readonly #answer: AnswerOptions<Req, Res>
  readonly #birth = new Birth()
  readonly #off: boolean
  readonly #wall: () => number

  constructor(host: ConnectHost<Req>, options: RateLimitOptions<Req, Res>) {
    this.guard = new RateGuard(options, host.options)
    this.#host = host
    this.#answer = options
    this.#off = this.guard.off
    const clock = clockOf(options.clock)
    this.#wall = () => clock.wall()
  }

  /** Returns what `next` returns, or a promise of it. */
  run(req: Req, res: Res, next: Next, onThrow?: Next): unknown {
    // first of all: a handler that speaks to `req.sluice` must not fail for requests that nobody counts
    const life = RequestLifecycle.of(req, res)
    if (this.#off) return next()
    this.#birth.used()
    if (!life.meets(this.guard)) return next()
    const check = this.guard.check(this.#host.view(req))
    if (!isPromise(check)) return this.#go(check, life, req, res, next)
    return afterCheck(check, (come) => this.#go(come, life, req, res, next), onThrow)
  }

  #go(check: RateCheck<Req, Res> | undefined, life: RequestLifecycle, req: Req, res: Res, next: Next): unknown {
    if (!check) return next()
    const { decision, denial, entry, guard } = check
    life.took(check, this.guard.observers)
    const lines = life.say(entry, this.#wall)
    if (denial) return answerDenied(req, res, next, lines, { denial, decision }, this.#answer)
    writeHeaderLines(req, res, lines)
    if (guard.settles) life.settleAtEnd(req, res)
    return next()
  }
}
