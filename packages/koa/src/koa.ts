import {
  type Admission,
  type ClientExplanation,
  type DecoratedLimiters,
  type ExplainClientOptions,
  explainSource,
  type HttpLimit,
  holdWhile,
  type InflightLimitOptions,
  isDeniedRequest,
  isPromise,
  limitersFor,
  nodeSource,
  type RateLimitOptions,
  type RequestSluice,
  rejectUncalled,
  sendDenial,
  withDecorators,
} from '@sluice/node-http/adapter'
import type { Context, Middleware, Next, Response } from 'koa'
import { KoaExchange } from './koa-exchange.ts'

/** Properties that limiters add to `ctx.state`. For a typed state, use `new Koa<MyState & SluiceState>()`. */
export interface SluiceState {
  /** The decisions of the request, and methods to change what it was charged. Set by the first limiter. */
  sluice?: RequestSluice
}

declare module 'koa' {
  interface DefaultState extends SluiceState {}
}

/** Additional options of Koa limiters. */
export interface KoaOptions {
  /**
   * Whether to throw denials, as errors with `status`, `headers`, `expose: true` and `code: 'SLUICE_DENIED'`, for the
   * middleware that handles errors. Default: false.
   */
  readonly next?: boolean | undefined
}

export type KoaRateLimitOptions = RateLimitOptions<Context, Response> & KoaOptions
export type KoaInflightLimitOptions = InflightLimitOptions<Context, Response> & KoaOptions
type Args = readonly [ctx: Context, next: Next]
type KoaLimiters = DecoratedLimiters<Args, Context, Response, KoaMiddleware, KoaOptions>

/** Koa middleware that can also be put in front of a single handler. */
export interface KoaMiddleware extends Middleware {
  /**
   * Returns a handler that runs `handler` for allowed requests. A cap also waits for the handler's promise before it
   * releases its permit.
   */
  wrap<Ctx = Context>(handler: (ctx: Ctx, next: Next) => unknown): (ctx: Ctx, next: Next) => unknown
}

/** Mounts a limit in front of the next middleware. Creates no promise if the limit decides synchronously. */
function koaMount(limit: HttpLimit<Context, Response>): KoaMiddleware {
  const run = (ctx: Context, work: () => unknown, waits: boolean): unknown => {
    const exchange = new KoaExchange(ctx)
    const go = (admission: Admission<Context, Response>): unknown => {
      if (isDeniedRequest(admission)) return sendDenial(exchange, admission, throwIn(ctx))
      if (admission === 'gone') return undefined
      return admission === 'held' && waits ? holdWhile(work(), exchange) : work()
    }
    const admission = limit.admit(exchange)
    return isPromise(admission) ? admission.then(go) : go(admission)
  }
  const wrap: KoaMiddleware['wrap'] = (handler) => (ctx, next) => run(ctx as Context, () => handler(ctx, next), true)
  return Object.assign((ctx: Context, next: Next) => run(ctx, next, limit.holdUntil === 'handler'), { wrap })
}

/** Returns a function that throws an error; undefined if Koa would not respond to it. */
function throwIn(ctx: Context): ((error: unknown) => never) | undefined {
  if (!ctx.writable) return undefined
  return (error) => {
    throw error
  }
}

const limiters: KoaLimiters = rejectUncalled(withDecorators(limitersFor(koaMount, ['next'])), {
  method: 'app.use',
  properties: ['_name'],
})
/** Limits request rates: `app.use(rateLimit({ limit: 100, window: '1m' }))`. Default key: the client address. */
export const rateLimit: KoaLimiters['rateLimit'] = limiters.rateLimit
/** Caps concurrent requests: `app.use(inflightLimit({ limit: 200 }))`, in the whole process unless `key` is set. */
export const inflightLimit: KoaLimiters['inflightLimit'] = limiters.inflightLimit
/** Delays frequent requests of a client: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: KoaLimiters['slowDown'] = limiters.slowDown
/** Refuses requests while the process is overloaded, least important first: `shed({ priority })`. Mount it first. */
export const shed: KoaLimiters['shed'] = limiters.shed
/** Creates limiter functions that share a backend, a clock and observers. */
export const createSluice: KoaLimiters['createSluice'] = limiters.createSluice
/** Decorator that limits the request rate of a method: `@RateLimit({ limit: 100, window: '1m' })`. */
export const RateLimit: KoaLimiters['RateLimit'] = limiters.RateLimit
/** Decorator that caps the concurrent requests of a method: `@InflightLimit({ limit: 4 })`. */
export const InflightLimit: KoaLimiters['InflightLimit'] = limiters.InflightLimit
/**
 * Decorator that delays frequent requests of a client to a method:
 * `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`.
 */
export const SlowDown: KoaLimiters['SlowDown'] = limiters.SlowDown
/** Decorator that refuses requests to a method while the process is overloaded: `@Shed({ priority })`. */
export const Shed: KoaLimiters['Shed'] = limiters.Shed

/**
 * Explains which client address counts for a request, and why, in words. Pass the option `trust` of the limiter in
 * question, if it has one. Throws `SLUICE_BAD_OPTION`.
 */
export function explainClient(ctx: Context, options?: ExplainClientOptions): ClientExplanation {
  return explainSource(nodeSource(ctx.req, ctx.ip), options, 'app.proxy')
}
