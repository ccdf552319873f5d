import {
  type Admission,
  type ClientExplanation,
  createSluiceFor,
  type ExplainClientOptions,
  explainSource,
  type HttpDenial,
  type HttpLimit,
  type InflightLimitOptions,
  inflightLimitFor,
  isPromise,
  type Limiters,
  type MaybePromise,
  type PassError,
  type RateLimitOptions,
  type RequestSluice,
  rateLimitFor,
  sendDenial,
  shedFor,
  slowDownFor,
} from '@sluice/http'
import { type FetchInfo, fetchSource, hostPeer } from './client-address.ts'
import { FetchExchange } from './fetch-exchange.ts'
import { FetchLife } from './fetch-life.ts'
import type { FetchReply } from './limit-reply.ts'

export type FetchRateLimitOptions = RateLimitOptions<Request, FetchReply>
export type FetchInflightLimitOptions = InflightLimitOptions<Request, FetchReply>

/** Runs what is behind a limit. */
export type FetchNext = () => MaybePromise<Response>

/** A limit in front of a handler of Web-standard requests. */
export interface FetchMiddleware {
  /** `info` is what the runtime passes beside the request; the client address is read from it. */
  (request: Request, info: FetchInfo | undefined, next: FetchNext): MaybePromise<Response>
  /** Returns a handler with the same arguments, which runs `handler` for allowed requests. They may be more. */
  wrap<Args extends readonly unknown[]>(
    handler: (request: Request, ...args: Args) => MaybePromise<Response>,
  ): (request: Request, ...args: readonly [...Args, ...unknown[]]) => MaybePromise<Response>
}

/** Status of the response to a client that has left. It is never sent. */
const CLIENT_CLOSED_REQUEST = 499

/** Answers a request with the response of `work`, if the limit admits it. Creates no promise unless a part does. */
export function answer<Req>(
  limit: HttpLimit<Req, FetchReply>,
  exchange: FetchExchange<Req>,
  work: FetchNext,
): MaybePromise<Response> {
  const go = (admission: Admission<Req, FetchReply>): MaybePromise<Response> =>
    isRefused(admission) ? refusal(exchange, admission) : behind(exchange, work)
  const admission = limit.admit(exchange)
  return isPromise(admission) ? admission.then(go) : go(admission)
}

/** An admission of a request whose handler does not run. */
type Refused<Req> = Exclude<Admission<Req, FetchReply>, 'passed' | 'held'>

export function isRefused<Req>(admission: Admission<Req, FetchReply>): admission is Refused<Req> {
  return admission !== 'passed' && admission !== 'held'
}

/**
 * Returns the response to a refused request. `passError` receives the error of a denial, if the options of the limit say
 * so, and an error of `denied`.
 */
export function refusal<Req>(
  exchange: FetchExchange<Req>,
  admission: Refused<Req>,
  passError?: PassError,
): MaybePromise<Response> {
  if (admission === 'gone') return new Response(null, { status: CLIENT_CLOSED_REQUEST })
  let passed: HttpDenial | undefined
  const pass: PassError | undefined =
    passError &&
    ((error, denial) => {
      passed = denial
      passError(error, denial)
    })
  const { denied, next } = admission.answer
  if (denied || next) exchange.discardPrepared()
  const sent = sendDenial(exchange, admission, pass)
  const sealed = (): Response => {
    // a `denied` hook that returned nothing may have changed the headers
    if (!exchange.denied) exchange.send(passed ?? admission.denial)
    return exchange.life.refuse(exchange.denied as Response)
  }
  return isPromise(sent) ? sent.then(sealed) : sealed()
}

function behind<Req>(exchange: FetchExchange<Req>, work: FetchNext): MaybePromise<Response> {
  const { life } = exchange
  const failed = (error: unknown): never => {
    life.fail()
    throw error
  }
  const finish = (response: Response): Response => {
    try {
      return exchange.finish(response)
    } catch (error) {
      return failed(error)
    }
  }
  life.enter()
  try {
    const response = work()
    if (isPromise(response)) return Promise.resolve(response).then(finish, failed)
    return exchange.finish(response)
  } catch (error) {
    return failed(error)
  }
}

/** Property of a request with its lifecycle. It costs less than an entry of a WeakMap. */
const LIFE = Symbol.for('sluice.fetchLife@1')

type Limited = Request & { readonly [LIFE]?: FetchLife }

function lifeOf(request: Limited, infos: readonly unknown[]): FetchLife {
  const value = FetchLife.of(request[LIFE], request, request, () => infos)
  if (value !== request[LIFE]) Object.defineProperty(request, LIFE, { value, configurable: true })
  return value
}

function fetchMount(limit: HttpLimit<Request, FetchReply>): FetchMiddleware {
  const run = (request: Request, infos: readonly unknown[], work: FetchNext): MaybePromise<Response> => {
    const origin = { life: lifeOf(request, infos), peer: hostPeer(request, infos) }
    return answer(limit, new FetchExchange(request, request, origin), work)
  }
  const wrap: FetchMiddleware['wrap'] =
    (handler) =>
    (request, ...args) =>
      run(request, args, () => (handler as (...all: unknown[]) => MaybePromise<Response>)(request, ...args))
  return Object.assign((request: Request, info: FetchInfo | undefined, next: FetchNext) => run(request, [info], next), {
    wrap,
  })
}

type FetchLimiters = Limiters<Request, FetchReply, FetchMiddleware>

/** Limits request rates: `rateLimit({ limit: 100, window: '1m' }).wrap(handler)`. Default key: the client address. */
export const rateLimit: FetchLimiters['rateLimit'] = /* @__PURE__ */ rateLimitFor(fetchMount)
/**
 * Caps concurrent requests: `inflightLimit({ limit: 50 }).wrap(handler)`. A permit is released when the response
 * has been sent or the client has left.
 */
export const inflightLimit: FetchLimiters['inflightLimit'] = /* @__PURE__ */ inflightLimitFor(fetchMount)
/** Delays frequent requests of a client: `slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' })`. */
export const slowDown: FetchLimiters['slowDown'] = /* @__PURE__ */ slowDownFor(fetchMount)
/** Refuses requests while the process is overloaded, least important first: `shed({ priority })`. Use it first. */
export const shed: FetchLimiters['shed'] = /* @__PURE__ */ shedFor(fetchMount)
/** Creates limiter functions that share a backend, a clock and observers. */
export const createSluice: FetchLimiters['createSluice'] = /* @__PURE__ */ createSluiceFor(fetchMount)

/** Returns the decisions of a request, and methods to change what it was charged; undefined before the first limit. */
export function sluiceOf(request: Request): RequestSluice | undefined {
  return (request as Limited)[LIFE]
}

/**
 * Explains which client address counts for a request, and why, in words. Pass the option `trust` of the limiter in
 * question, if it has one, and what the runtime passes beside the request as `info`. Throws `SLUICE_BAD_OPTION`.
 */
export function explainClient(request: Request, info?: FetchInfo, options?: ExplainClientOptions): ClientExplanation {
  return explainSource(fetchSource(request, [info]), options)
}
