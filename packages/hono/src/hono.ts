import { type FetchReply, fetchSource, isRefused, refusal } from '@sluice/fetch/adapter'
import {
  andThen,
  type ClientExplanation,
  createSluiceFor,
  type DenialError,
  type ExplainClientOptions,
  explainSource,
  type HttpLimit,
  type InflightLimitOptions,
  inflightLimitFor,
  isPromise,
  type Limiters,
  type MaybePromise,
  type RateLimitOptions,
  type RequestSluice,
  rateLimitFor,
  shedFor,
  slowDownFor,
} from '@sluice/http'
import type { Context, Next } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { followReplacements, HonoExchange, runtimeInfos } from './hono-exchange.ts'

/** Variables that limits add to the context of a request. */
export interface SluiceVariables {
  /** The decisions of the request, and methods to change what it was charged. Set by the first limit. */
  sluice?: RequestSluice
}

/** Types of a context with limits: `new Hono<SluiceEnv>()`. Other contexts know `c.var.sluice`, too. */
export interface SluiceEnv {
  Variables: SluiceVariables
}

declare module 'hono' {
  interface ContextVariableMap extends SluiceVariables {}
}

export type HonoRateLimitOptions = RateLimitOptions<Context, FetchReply>
export type HonoInflightLimitOptions = InflightLimitOptions<Context, FetchReply>

/** Options that only limits of Hono have. */
export interface HonoOptions {
  /**
   * Whether to pass denials to `app.onError`, as an `HTTPException` whose response is the default one and whose `cause`
   * has `code: 'SLUICE_DENIED'`. Default: false.
   */
  readonly next?: boolean | undefined
}

/**
 * Middleware for contexts of any type. It names only a part of the context from which TypeScript infers no types, so that
 * handlers behind it keep the types of their bindings, variables and parameters.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: Hono's own type of middleware
export type HonoMiddleware = (c: Pick<Context, 'res'>, next: Next) => Promise<Response | void>

function honoMount(limit: HttpLimit<Context, FetchReply>): HonoMiddleware {
  return async (context, next) => {
    const c = context as Context
    const exchange = new HonoExchange(c)
    const checked = limit.admit(exchange)
    const admission = isPromise(checked) ? await checked : checked
    if (isRefused(admission)) return refuse(c, exchange, admission)
    const { life } = exchange
    life.enter()
    let response: Response
    try {
      await next()
      response = exchange.finish(c.res)
    } catch (error) {
      life.fail()
      throw error
    }
    if (response === c.res) return
    replace(c, response)
    followReplacements(c, life)
  }
}

type Refused = Parameters<typeof refusal<Context>>[1]

/** Answers a request whose handler does not run. Returns a promise only if a function of the application does. */
function refuse(c: Context, exchange: HonoExchange, admission: Refused): MaybePromise<void> {
  let thrown: Thrown | undefined
  const refused = refusal(exchange, admission, (error, denial) => {
    thrown = { error, isDenial: denial !== undefined }
  })
  return andThen(refused, (response) => {
    if (thrown) throwInto(exchange, response, thrown)
    replace(c, response)
    followReplacements(c, exchange.life)
  })
}

/** An error for `app.onError`. */
interface Thrown {
  readonly error: unknown
  readonly isDenial: boolean
}

function throwInto(exchange: HonoExchange, response: Response, thrown: Thrown): never {
  exchange.raw.res = undefined
  exchange.prepareHeaders()
  if (!thrown.isDenial) throw thrown.error
  const error = thrown.error as DenialError
  const { status, message } = error
  throw new HTTPException(status as ContentfulStatusCode, { res: response, message, cause: error })
}

/** Assigning a response to one that exists would merge the headers of both. */
function replace(c: Context, response: Response): void {
  c.res = undefined
  c.res = response
}

type HonoLimiters = Limiters<Context, FetchReply, HonoMiddleware, HonoOptions>

const OWN_OPTIONS = ['next']

/** Limits request rates: `app.use(rateLimit({ limit: 100, window: '1m' }))`. Default key: the client address. */
export const rateLimit: HonoLimiters['rateLimit'] = /* @__PURE__ */ rateLimitFor(honoMount, OWN_OPTIONS)
/**
 * Caps concurrent requests: `app.use(inflightLimit({ limit: 50 }))`. A permit is released when the response
 * has been sent or the client has left.
 */
export const inflightLimit: HonoLimiters['inflightLimit'] = /* @__PURE__ */ inflightLimitFor(honoMount, OWN_OPTIONS)
/** Delays frequent requests of a client: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: HonoLimiters['slowDown'] = /* @__PURE__ */ slowDownFor(honoMount, OWN_OPTIONS)
/** Refuses requests while the process is overloaded, least important first: `shed({ priority })`. Use it first. */
export const shed: HonoLimiters['shed'] = /* @__PURE__ */ shedFor(honoMount, OWN_OPTIONS)
/** Creates limiter functions that share a backend, a clock and observers. */
export const createSluice: HonoLimiters['createSluice'] = /* @__PURE__ */ createSluiceFor(honoMount, OWN_OPTIONS)

/**
 * Explains which client address counts for a request, and why, in words. Pass the option `trust` of the limiter in
 * question, if it has one. Throws `SLUICE_BAD_OPTION`.
 */
export function explainClient(c: Context, options?: ExplainClientOptions): ClientExplanation {
  return explainSource(fetchSource(c.req.raw, runtimeInfos(c)), options)
}
