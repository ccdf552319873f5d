import {
  type Admission,
  admitAll,
  afterCheck,
  answerDenied,
  type HttpLimit,
  isPromise,
  ReplyExchange,
  type RequestLife,
} from '@sluice/node-http/adapter'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

type Limits = readonly HttpLimit<FastifyRequest, FastifyReply>[]

export type Done = (error?: Error) => void

/** Written as a method, so that it may ask for a narrower request. */
type Handler = { handle(this: FastifyInstance, request: FastifyRequest, reply: FastifyReply): unknown }['handle']

/** A request or a reply, whatever its application's types and protocol are. */
interface OfFastify {
  readonly raw: object
}

/** A hook: `onRequest`, `preValidation` or `preHandler`, of an application, a part of it or a route. */
export interface FastifyHook {
  (request: OfFastify, reply: OfFastify, done: Done): void
  /** A handler that runs for requests that pass. A cap holds its place until the handler's promise settles, too. */
  wrap<H extends Handler>(handler: H): H
}

const NEEDS_WRAP =
  "holdUntil: got 'handler' for a hook, which never learns when a handler is done: expected .wrap(handler), or the plugin"

/** Puts a limit in front of handlers. */
export function fastifyMount(limit: HttpLimit<FastifyRequest, FastifyReply>): FastifyHook {
  const limits = [limit]
  const hook = (request: OfFastify, reply: OfFastify, done: Done): void => {
    if (limit.holdUntil === 'handler') limit.report.warnOnce('SLUICE_BAD_OPTION', () => NEEDS_WRAP)
    enter(limits, request as FastifyRequest, reply as FastifyReply, done)
  }
  return Object.assign(hook, { wrap: <H extends Handler>(handler: H) => wrapped(limits, handler) as H })
}

/** Lets a request into what follows, or answers it. Makes no promise where the limits answer at once. */
export function enter(limits: Limits, request: FastifyRequest, reply: FastifyReply, done: Done): void {
  const exchange = new ReplyExchange(request, reply)
  const go = (admission: Outcome): void => {
    if (passes(admission, exchange)) done()
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

/** Runs a handler's `work` for a request that passes, or answers it. `life` is that of a request that holds a place. */
export function runBehind(
  limits: Limits,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (life: RequestLife | undefined) => unknown,
): unknown {
  const exchange = new ReplyExchange(request, reply)
  const go = (admission: Outcome): unknown =>
    passes(admission, exchange) ? work(admission === 'held' ? exchange.life : undefined) : undefined
  const admission = admitAll(limits, exchange)
  if (!isPromise(admission)) return go(admission)
  return admission.then((outcome) => {
    const done = go(outcome)
    // a promise of nothing would be an empty answer; the reply itself says that one is on its way
    return done === undefined ? reply : done
  })
}

/** What a handler returned, for Fastify to await. The places of its request are held until it settles, too. */
export function heldWork(life: RequestLife, work: unknown, reply: FastifyReply): unknown {
  if (!isPromise(work)) return work
  // a query that runs when it is awaited must run once, and a reply that is awaited twice is still one answer
  const awaited: PromiseLike<unknown> = work === (reply as unknown) ? work : Promise.resolve(work)
  life.holdUntil(awaited)
  return awaited
}

type Outcome = Admission<FastifyRequest, FastifyReply>

/** False where the request ends here. */
function passes(outcome: Outcome, exchange: ReplyExchange<FastifyRequest, FastifyReply>): boolean {
  if (outcome === 'passed' || outcome === 'held') return true
  // nobody is left to answer, and Fastify need not wait for an answer either
  if (outcome === 'gone') exchange.res.hijack()
  else answerDenied(exchange, outcome, (error) => exchange.res.send(error))
  return false
}
