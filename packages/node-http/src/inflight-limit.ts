import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  Birth,
  type CapCheck,
  CapGuard,
  type InflightLimiter,
  type InflightLimitOptions,
  isPromise,
  systemClock,
  warnOnce,
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
import { RequestLifecycle } from './request-lifecycle.ts'

/** Middleware that caps requests in progress. */
export interface InflightLimitMiddleware<Req, Res> extends ConnectMiddleware<Req, Res> {
  /** The cap behind it: to count what is held, or to hold places outside of requests. */
  readonly limiter: InflightLimiter
  close(): void
}

/** The `inflightLimit` of a framework. */
export function inflightLimitFor<Req extends IncomingMessage, Res extends ServerResponse>(
  host: ConnectHost<Req>,
): (options: InflightLimitOptions<Req, Res>) => InflightLimitMiddleware<Req, Res> {
  return (options) => {
    const cap = new RequestCap(host, options)
    const middleware = (req: Req, res: Res, next: Next): void => {
      if (options.holdUntil === 'handler') warnOnce('SLUICE_BAD_OPTION', NEEDS_WRAP)
      cap.run(req, res, next, () => next())
    }
    const wrap =
      (handler: ConnectHandler<Req, Res>): WrappedHandler<Req, Res> =>
      (req, res, next = lastOfAll) =>
        cap.run(req, res, next, (life) => held(handler(req, res, next), life), next)
    return Object.assign(middleware, { wrap, limiter: cap.guard.limiter, close: () => cap.guard.limiter.close() })
  }
}

const NEEDS_WRAP =
  "holdUntil: got 'handler' for a middleware, which never learns when a handler is done: expected .wrap(handler)"

/** The handler's answer, which the permit waits for. */
function held(work: unknown, life: RequestLifecycle | undefined): unknown {
  if (!life || !isPromise(work)) return work
  life.holdUntil(work)
  // holding it would hide its rejection from the process, so what is handed on is one that nobody has looked at yet
  return work.then((done) => done)
}

class RequestCap<Req extends IncomingMessage, Res extends ServerResponse> {
  readonly guard: CapGuard<Req, Res>
  readonly #host: ConnectHost<Req>
  readonly #answer: AnswerOptions<Req, Res>
  readonly #birth = new Birth()

  constructor(host: ConnectHost<Req>, options: InflightLimitOptions<Req, Res>) {
    this.guard = new CapGuard(options, host.options)
    this.#host = host
    this.#answer = options
  }

  /** Runs `work` for a request that got a place; without a lifecycle where nothing is held. */
  run(req: Req, res: Res, next: Next, work: (life?: RequestLifecycle) => unknown, onThrow?: Next): unknown {
    // first of all: a handler that speaks to `req.sluice` must not fail for requests that nobody counts
    const life = RequestLifecycle.of(req, res)
    if (this.guard.mode === 'off') return work()
    this.#birth.used()
    if (!life.meets(this.guard)) return work()
    // nobody waits for an answer, and no signal would bring the place back
    if (life.gone) return undefined
    const check = this.guard.check(this.#host.view(req))
    if (!isPromise(check)) return this.#go(check, life, req, res, next, work)
    return afterCheck(check, (come) => this.#go(come, life, req, res, next, work), onThrow)
  }

  #go(
    check: CapCheck | undefined,
    life: RequestLifecycle,
    req: Req,
    res: Res,
    next: Next,
    work: (life?: RequestLifecycle) => unknown,
  ): unknown {
    if (!check) return work()
    if (check.permit) {
      if (life.gone) return check.permit.release('dropped')
      life.hold(check.permit)
      return work(life)
    }
    const lines = life.say(check.entry, systemClock.wall)
    return answerDenied(req, res, next, lines, { denial: check.denial, decision: undefined }, this.#answer)
  }
}
