import type { CanActivate, NestInterceptor } from '@nestjs/common'
import {
  type Answer,
  admitAll,
  type Backend,
  type ClientExplanation,
  type ExplainClientOptions,
  explainSource,
  type HttpLimit,
  type InflightHandle,
  type InflightLimitOptions,
  type Limiters,
  limitersFor,
  nodeSource,
  type RateHandle,
  type RateLimitOptions,
  type ShedHandle,
  type ShedOptions,
  type SlowDownHandle,
  type SlowDownOptions,
  type Sluice,
  type SluiceOptions,
} from '@sluice/node-http/adapter'
import { isCall } from './exchange/call-exchange.ts'
import { exchangeOf } from './exchange/exchange-of.ts'
import type { PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'
import { checkLimits } from './sluice-guard.ts'
import { endWith, runWithin } from './sluice-interceptor.ts'

export type NestRateLimitOptions = RateLimitOptions<PlatformRequest, PlatformResponse>
export type NestInflightLimitOptions = InflightLimitOptions<PlatformRequest, PlatformResponse>
export type NestShedOptions = ShedOptions<PlatformRequest, PlatformResponse>
export type NestSlowDownOptions = SlowDownOptions<PlatformRequest, PlatformResponse>

/** Functions that create single limits, for `@UseGuards` and `@UseInterceptors`. */
export interface NestLimiterFactories {
  rateLimit(options: NestRateLimitOptions): CanActivate & RateHandle
  inflightLimit(options: NestInflightLimitOptions): NestInterceptor & InflightHandle
  slowDown(options: NestSlowDownOptions): CanActivate & SlowDownHandle
  shed(options?: NestShedOptions): CanActivate & ShedHandle
}

export type NestSluice<B extends Backend> = NestLimiterFactories &
  Pick<Sluice<PlatformRequest, PlatformResponse, object, unknown, B>, 'limiter'>

interface NestLimiters extends NestLimiterFactories {
  createSluice<B extends Backend = Backend<Answer>>(options?: SluiceOptions<B>): NestSluice<B>
}

/** Mounts a cap as an interceptor, which can observe the end of the handler, and any other limit as a guard. */
function nestMount(limit: HttpLimit<PlatformRequest, PlatformResponse>): Partial<CanActivate & NestInterceptor> {
  const limits = [limit]
  if (!('holdUntil' in limit)) {
    return { canActivate: (context) => checkLimits(limits, exchangeOf(context), context) }
  }
  return {
    intercept: (context, next) => {
      const exchange = exchangeOf(context)
      const admit = () => admitAll(limits, exchange)
      const given = { exchange, context, next }
      if (isCall(exchange)) return endWith(runWithin(limits, given, admit), exchange.call)
      // checked now rather than on subscription, so that a cap created during the request is detected; the permit is
      // released in any case, because a response always ends
      const admission = admit()
      return runWithin(limits, given, () => admission)
    },
  }
}

const limiters = limitersFor(nestMount) as Limiters<PlatformRequest, PlatformResponse, object> as NestLimiters

/** Guard that limits request rates, without the module: `@UseGuards(rateLimit({ limit: 100, window: '1m' }))`. */
export const rateLimit: NestLimiters['rateLimit'] = limiters.rateLimit

/** Interceptor that caps concurrent requests, without the module: `@UseInterceptors(inflightLimit({ limit: 4 }))`. */
export const inflightLimit: NestLimiters['inflightLimit'] = limiters.inflightLimit

/**
 * Guard that delays frequent requests of a client, without the module:
 * `@UseGuards(slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' }))`.
 */
export const slowDown: NestLimiters['slowDown'] = limiters.slowDown

/** Guard that refuses requests while the process is overloaded, without the module: `@UseGuards(shed())`. */
export const shed: NestLimiters['shed'] = limiters.shed

/** Creates the functions above with a shared backend, clock and observers. */
export const createSluice: NestLimiters['createSluice'] = limiters.createSluice

/**
 * Explains which client address counts for a request, and why, in words. Pass the option `trust` of the limiter in
 * question, if it has one. Throws `SLUICE_BAD_OPTION`.
 */
export function explainClient(request: PlatformRequest, options?: ExplainClientOptions): ClientExplanation {
  return explainSource(nodeSource(request.raw ?? request, request.ip), options, 'the setting of its platform')
}
