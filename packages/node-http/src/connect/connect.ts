import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Admission, HttpLimit } from '@sluice/http'
import { sendDenial } from '@sluice/http'
import { isPromise } from '@sluice/limiter-core/http'
import type { Exchange } from '../exchange/exchange.ts'
import { afterCheck } from './after-check.ts'
import type { Next } from './next.ts'

export type ConnectHandler<Req, Res> = (req: Req, res: Res, next: Next) => unknown

/** A handler behind a limiter. Servers call it without `next`, frameworks with it. */
export type WrappedHandler<Req, Res> = (req: Req, res: Res, next?: Next) => unknown

/** A limiter as `(req, res, next)` middleware, which can also be put in front of a single handler. */
export interface ConnectMiddleware<Req, Res> {
  (req: Req, res: Res, next: Next): void
  /**
   * Returns a handler that runs `handler` for allowed requests. A cap also waits for the handler's promise before it
   * releases its permit. `handler` may have a more specific request type: HTTP/2, or with the parameters of its route.
   */
  wrap<R = Req, S = Res>(handler: ConnectHandler<R, S>): WrappedHandler<R, S>
}

const NEEDS_WRAP =
  "holdUntil: expected 'response' for a middleware, received 'handler'; a middleware cannot detect when a handler " +
  'finishes, so permits are released when the response ends; use .wrap(handler) to wait for the handler'

/** Constructor of an exchange. */
type ExchangeClass<Req, Res> = new (
  raw: Req,
  res: Res,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => Exchange<Req, Res>

/**
 * Returns a function that mounts limits in front of `(req, res, next)` handlers, with exchanges of class `Adapted`.
 * `handlesErrors`: whether `next` passes its argument to error handlers, so that it never runs a handler.
 */
export function connectMount<Req extends IncomingMessage, Res extends ServerResponse>(
  Adapted: ExchangeClass<Req, Res>,
  handlesErrors = false,
): (limit: HttpLimit<Req, Res>) => ConnectMiddleware<Req, Res> {
  const passing = (next: Next): Next | undefined => (handlesErrors && next !== endOfChain ? next : undefined)
  return (limit) => {
    const middleware = (req: Req, res: Res, next: Next): void => {
      if (limit.holdUntil === 'handler') limit.report.warnOnce('SLUICE_BAD_OPTION', () => NEEDS_WRAP)
      const exchange = new Adapted(req, res, req, res)
      const admission = limit.admit(exchange)
      if (admission === 'passed' || admission === 'held') {
        next()
        return
      }
      const go = (outcome: Admission<Req, Res>): unknown => follow(outcome, exchange, passing(next), () => next())
      if (isPromise(admission)) afterCheck(admission, go, undefined)
      else go(admission)
    }
    const wrap =
      (handler: ConnectHandler<Req, Res>): WrappedHandler<Req, Res> =>
      (req, res, next = endOfChain) => {
        const exchange = new Adapted(req, res, req, res)
        const admission = limit.admit(exchange)
        const go = (outcome: Admission<Req, Res>): unknown =>
          follow(outcome, exchange, passing(next), (holder) => holdWhile(handler(req, res, next), holder))
        return isPromise(admission) ? afterCheck(admission, go, next) : go(admission)
      }
    return Object.assign(middleware, { wrap: wrap as ConnectMiddleware<Req, Res>['wrap'] })
  }
}

/** Runs the work behind a limit, or sends its denial. */
function follow<Req, Res>(
  admission: Admission<Req, Res>,
  exchange: Exchange<Req, Res>,
  next: Next | undefined,
  work: Work,
): unknown {
  if (admission === 'passed') return work()
  if (admission === 'held') return work(exchange)
  if (admission === 'gone') return undefined
  return sendDenial(exchange, admission, next && ((error) => next(error)))
}

/** The work behind a limit. `holder` is the exchange of a request that holds a permit. */
type Work = (holder?: Holder) => unknown
type Holder = Pick<Exchange<unknown, unknown>, 'life'>

/** Default `next` for servers without a framework: rethrows errors, and otherwise does nothing. */
function endOfChain(error?: unknown): void {
  if (error !== undefined) throw error
}

/** Makes the permits of `holder` wait for `work`, the result of a handler. Returns the result. */
export function holdWhile(work: unknown, holder: Holder | undefined): unknown {
  if (!holder || !isPromise(work)) return work
  // `then` is called once: a lazy thenable, such as a query, runs again on each call
  const done = Promise.resolve(work)
  holder.life.holdUntil(done)
  // `holdUntil` handles a rejection of `done`; a new promise keeps it unhandled for the caller
  return done.then((value) => value)
}
