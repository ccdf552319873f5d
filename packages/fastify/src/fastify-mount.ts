import {
  type Admission,
  admitAll,
  afterCheck,
  type HttpLimit,
  isPromise,
  type MaybePromise,
  ReplyExchange,
  type RequestLife,
  rejectMounted,
  sendDenial,
} from '@sluice/node-http/adapter'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Property that Fastify reads from each plugin. */
export const PLUGIN_META: unique symbol = Symbol.for('plugin-meta') as never
const REGISTERING = { method: 'app.register', properties: [PLUGIN_META] }

type Limits = readonly HttpLimit<FastifyRequest, FastifyReply>[]

export type Done = (error?: Error) => void

/** Written with method syntax, which permits handlers with narrower request types. */
type Handler = { handle(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply): unknown }['handle']

/** A request or a reply of any application and protocol. */
interface OfFastify {
  readonly raw: object
}

/** A hook for `onRequest`, `preValidation` or `preHandler` of an application, a child instance or a route. */
export interface FastifyHook {
  (request: OfFastify, reply: OfFastify, done: Done): void
  /**
   * Returns a handler that runs `handler` for allowed requests. A cap also waits for the handler's promise before it
   * releases its permit.
   */
  wrap<H extends Handler>(handler: H): H
}

const NEEDS_WRAP =
  "holdUntil: expected 'response' for a hook, received 'handler'; a hook cannot detect when a handler finishes, so " +
  'permits are released when the response ends; use .wrap(handler) or the plugin to wait for the handler'

/** Mounts a limit as a hook. */
export function fastifyMount(limit: HttpLimit<FastifyRequest, FastifyReply>): FastifyHook {
  const limits = [limit]
  const hook = (request: OfFastify, reply: OfFastify, done: Done): void => {
    if (limit.holdUntil === 'handler') limit.report.warnOnce('SLUICE_BAD_OPTION', () => NEEDS_WRAP)
    checkInHook(limits, request as FastifyRequest, reply as FastifyReply, done)
  }
  const mounted = Object.assign(hook, { wrap: <H extends Handler>(handler: H) => wrapped(limits, handler) as H })
  return rejectMounted(mounted, REGISTERING, "app.addHook('onRequest', hook)", 'a hook as a plugin')
}

/** Checks limits in a hook: calls `done` or answers the request. Synchronous if the limits are. */
export function checkInHook(limits: Limits, request: FastifyRequest, reply: FastifyReply, done: Done): void {
  const exchange = new ReplyExchange(request, reply)
  const go = (admission: Outcome): void => {
    if (isAdmitted(admission)) done()
    else answerOutcome(admission, exchange, done as (error: unknown) => void)
  }
  const admission = admitAll(limits, exchange)
  if (isPromise(admission)) afterCheck(admission, go, done as (error?: unknown) => void)
  else go(admission)
}

function wrapped(limits: Limits, handler: Handler): Handler {
  return function (this: FastifyInstance, request, reply) {
    return runBehind(limits, request, reply, (life) => {
      const work = handler.call(this, request, reply)
      return life ? heldWork(life, work, reply) : work
    })
  }
}

/** Runs `work` for an allowed request, or answers the request. `life` is given if the request holds a permit. */
export function runBehind(
  limits: Limits,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (life: RequestLife | undefined) => unknown,
): unknown {
  const exchange = new ReplyExchange(request, reply)
  const go = (admission: Outcome): unknown => {
    if (isAdmitted(admission)) return work(admission === 'held' ? exchange.life : undefined)
    const answered = answerOutcome(admission, exchange, (error) => {
      throw error
    })
    return isPromise(answered) ? answered.then(() => reply) : undefined
  }
  const admission = admitAll(limits, exchange)
  if (!isPromise(admission)) return go(admission)
  return admission.then((outcome) => {
    const done = go(outcome)
    // a promise of undefined would send an empty response; returning the reply means that a response follows
    return done === undefined ? reply : done
  })
}

/** Makes the permits of a request wait for the result of its handler. Returns the result, for Fastify to await. */
export function heldWork(life: RequestLife, work: unknown, reply: FastifyReply): unknown {
  if (!isPromise(work)) return work
  // a lazy thenable, such as a query, must be awaited only once; a reply may be awaited several times
  const awaited: PromiseLike<unknown> = work === (reply as unknown) ? work : Promise.resolve(work)
  life.holdUntil(awaited)
  return awaited
}

type Outcome = Admission<FastifyRequest, FastifyReply>

function isAdmitted(outcome: Outcome): outcome is 'passed' | 'held' {
  return outcome === 'passed' || outcome === 'held'
}

/** Ends a request whose handler does not run. `fail` receives errors for the error handler of the application. */
function answerOutcome(
  outcome: Exclude<Outcome, 'passed' | 'held'>,
  exchange: ReplyExchange<FastifyRequest, FastifyReply>,
  fail: (error: unknown) => void,
): MaybePromise<void> {
  if (outcome !== 'gone') return sendDenial(exchange, outcome, (error) => fail(error))
  // the client has left: `hijack` stops Fastify from waiting for a response
  exchange.res.hijack()
  return undefined
}
