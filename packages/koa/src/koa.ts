import {
  type Admission,
  answerDenied,
  type DecoratedLimiters,
  type HttpLimit,
  held,
  type InflightLimitOptions,
  isDeniedRequest,
  isPromise,
  limitersFor,
  mustBeCalled,
  type RateLimitOptions,
  type RequestSluice,
  withDecorators,
} from '@sluice/node-http/adapter'
import type { Context, Middleware, Next, Response } from 'koa'
import { KoaExchange } from './koa-exchange.ts'

/** What limiters put into `ctx.state`, for applications that name its type: `new Koa<MyState & SluiceState>()`. */
export interface SluiceState {
  /** What Sluice knows of the request; present behind a limiter. */
  sluice?: RequestSluice
}

declare module 'koa' {
  interface DefaultState extends SluiceState {}
}

export type KoaRateLimitOptions = RateLimitOptions<Context, Response>
export type KoaInflightLimitOptions = InflightLimitOptions<Context, Response>
type KoaLimiters = DecoratedLimiters<readonly [ctx: Context, next: Next], Context, Response, KoaMiddleware>

/** Middleware of Koa, or around a single handler. */
export interface KoaMiddleware extends Middleware {
  /** A handler that runs for requests that pass. A cap holds its place until the handler's promise settles, too. */
  wrap<Ctx = Context>(handler: (ctx: Ctx, next: Next) => unknown): (ctx: Ctx, next: Next) => unknown
}

/** Puts a limit in front of what follows it. Makes no promise where the limit answers at once. */
function koaMount(limit: HttpLimit<Context, Response>): KoaMiddleware {
  const run = (ctx: Context, work: () => unknown, waits: boolean): unknown => {
    const exchange = new KoaExchange(ctx)
    const go = (admission: Admission<Context, Response>): unknown => {
      if (isDeniedRequest(admission)) return answerDenied(exchange, admission)
      if (admission === 'gone') return undefined
      return admission === 'held' && waits ? held(work(), exchange) : work()
    }
    const admission = limit.admit(exchange)
    return isPromise(admission) ? admission.then(go) : go(admission)
  }
  const wrap: KoaMiddleware['wrap'] = (handler) => (ctx, next) => run(ctx as Context, () => handler(ctx, next), true)
  return Object.assign((ctx: Context, next: Next) => run(ctx, next, limit.holdUntil === 'handler'), { wrap })
}

const limiters: KoaLimiters = mustBeCalled(withDecorators(limitersFor(koaMount)), '_name')
/** Limits rates: `app.use(rateLimit({ limit: 100, window: '1m' }))`, by client address unless `key` says otherwise. */
export const rateLimit: KoaLimiters['rateLimit'] = limiters.rateLimit
/** Caps requests in progress: `app.use(inflightLimit({ limit: 200 }))`, of the whole process unless `key` is given. */
export const inflightLimit: KoaLimiters['inflightLimit'] = limiters.inflightLimit
/** Delays requests of who asks too often: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: KoaLimiters['slowDown'] = limiters.slowDown
/** One place to inject backend, clock and observers from. */
export const createSluice: KoaLimiters['createSluice'] = limiters.createSluice
/** Limits rates in front of a method: `@RateLimit({ limit: 100, window: '1m' })`. */
export const RateLimit: KoaLimiters['RateLimit'] = limiters.RateLimit
/** Caps requests that a method has in progress: `@InflightLimit({ limit: 4 })`. */
export const InflightLimit: KoaLimiters['InflightLimit'] = limiters.InflightLimit
/** Delays who asks a method too often: `@SlowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const SlowDown: KoaLimiters['SlowDown'] = limiters.SlowDown
