import type { IncomingMessage, ServerResponse } from 'node:http'
import { isPromise } from '@sluice/limiter-core/http'
import { answerDenied } from '../denial/answer-denied.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Admission, HttpLimit } from '../limits/http-limit.ts'
import { afterCheck } from './after-check.ts'
import type { Next } from './next.ts'

export type ConnectHandler<Req, Res> = (req: Req, res: Res, next: Next) => unknown

/** A handler behind a limiter: for a server itself, which has no `next`, and for frameworks, which have one. */
export type WrappedHandler<Req, Res> = (req: Req, res: Res, next?: Next) => unknown

/** Middleware, or around a single handler. */
export interface ConnectMiddleware<Req, Res> {
  (req: Req, res: Res, next: Next): void
  /**
   * A handler that runs for requests that pass. A cap holds its place until the handler's promise settles, too. The
   * handler may ask for another request than a limiter knows: of HTTP/2, or with the parameters of its route.
   */
  wrap<R = Req, S = Res>(handler: ConnectHandler<R, S>): WrappedHandler<R, S>
}

const NEEDS_WRAP =
  "holdUntil: got 'handler' for a middleware, which never learns when a handler is done: expected .wrap(handler)"

/** A kind of exchange, by what it is made of. */
type ExchangeClass<Req, Res> = new (
  raw: Req,
  res: Res,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => Exchange<Req, Res>

/** Puts limits in front of `(req, res, next)` handlers, whose requests are shown as `Shown`. */
export function connectMount<Req extends IncomingMessage, Res extends ServerResponse>(
  Shown: ExchangeClass<Req, Res>,
): (limit: HttpLimit<Req, Res>) => ConnectMiddleware<Req, Res> {
  return (limit) => {
    const middleware = (req: Req, res: Res, next: Next): void => {
      if (limit.holdUntil === 'handler') limit.report.warnOnce('SLUICE_BAD_OPTION', () => NEEDS_WRAP)
      const exchange = new Shown(req, res, req, res)
      const admission = limit.admit(exchange)
      if (admission === 'passed' || admission === 'held') {
        next()
        return
      }
      const go = (outcome: Admission<Req, Res>): unknown => follow(outcome, exchange, next, () => next())
      if (isPromise(admission)) afterCheck(admission, go, undefined)
      else go(admission)
    }
    const wrap =
      (handler: ConnectHandler<Req, Res>): WrappedHandler<Req, Res> =>
      (req, res, next = lastOfAll) => {
        const exchange = new Shown(req, res, req, res)
        const admission = limit.admit(exchange)
        const go = (outcome: Admission<Req, Res>): unknown =>
          follow(outcome, exchange, next, (holder) => held(handler(req, res, next), holder))
        return isPromise(admission) ? afterCheck(admission, go, next) : go(admission)
      }
    return Object.assign(middleware, { wrap: wrap as ConnectMiddleware<Req, Res>['wrap'] })
  }
}

/** Does the work behind a limit, or answers for it. */
function follow<Req, Res>(
  admission: Admission<Req, Res>,
  exchange: Exchange<Req, Res>,
  next: Next,
  work: Work,
): unknown {
  if (admission === 'passed') return work()
  if (admission === 'held') return work(exchange)
  return admission === 'gone' ? undefined : answerDenied(exchange, admission, next)
}

/** What follows a limiter; told the exchange that holds a place. */
type Work = (holder?: Holder) => unknown
type Holder = Pick<Exchange<unknown, unknown>, 'life'>

/** Where a server has no `next`: nothing follows, and an error is nobody's but the server's. */
function lastOfAll(error?: unknown): void {
  if (error !== undefined) throw error
}

/** The work of a handler, which the permits of its request wait for from now on. */
export function held(work: unknown, holder: Holder | undefined): unknown {
  if (!holder || !isPromise(work)) return work
  // of a thenable that runs when it is asked, such as a query, only one may ask
  const done = Promise.resolve(work)
  holder.life.holdUntil(done)
  // holding it would hide its rejection from the process, so what is handed on is one that nobody has looked at yet
  return done.then((value) => value)
}
