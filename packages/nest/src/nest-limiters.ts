import type { CanActivate, NestInterceptor } from '@nestjs/common'
import {
  type Answer,
  admitAll,
  type Backend,
  type HttpLimit,
  type InflightHandle,
  type InflightLimitOptions,
  type Limiters,
  limitersFor,
  type RateHandle,
  type RateLimitOptions,
  type SlowDownOptions,
  type SlowHandle,
  type Sluice,
  type SluiceOptions,
} from '@sluice/node-http/adapter'
import { CallExchange } from './call-exchange.ts'
import { exchangeOf } from './exchange-of.ts'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'
import { mayPass } from './sluice-guard.ts'
import { ending, within } from './sluice-interceptor.ts'

export type NestRateLimitOptions = RateLimitOptions<PlatformRequest, PlatformResponse>
export type NestInflightLimitOptions = InflightLimitOptions<PlatformRequest, PlatformResponse>
export type NestSlowDownOptions = SlowDownOptions<PlatformRequest, PlatformResponse>

/** The makers of single limits, for `@UseGuards` and `@UseInterceptors`. */
export interface NestMakers {
  rateLimit(options: NestRateLimitOptions): CanActivate & RateHandle
  inflightLimit(options: NestInflightLimitOptions): NestInterceptor & InflightHandle
  slowDown(options: NestSlowDownOptions): CanActivate & SlowHandle
}

export type NestSluice<B extends Backend> = NestMakers &
  Pick<Sluice<PlatformRequest, PlatformResponse, object, unknown, B>, 'limiter'>

interface NestLimiters extends NestMakers {
  createSluice<B extends Backend = Backend<Answer>>(options?: SluiceOptions<B>): NestSluice<B>
}

/** A cap is an interceptor, which learns of the end of its handler; every other limit is a guard. */
function nestMount(limit: HttpLimit<PlatformRequest, PlatformResponse>): Partial<CanActivate & NestInterceptor> {
  const limits = [limit]
  if (!('holdUntil' in limit)) {
    return { canActivate: (context) => mayPass(limits, exchangeOf(context), context) }
  }
  return {
    intercept: (context, next) => {
      const exchange = exchangeOf(context)
      const admit = () => admitAll(limits, exchange)
      const given = { exchange, context, next }
      if (exchange instanceof CallExchange) return ending(within(limits, given, admit), exchange.call)
      // a response ends in any case: asked now, so that a cap which is built while a request is handled is noticed
      const admission = admit()
      return within(limits, given, () => admission)
    },
  }
}

const limiters = limitersFor(nestMount) as Limiters<PlatformRequest, PlatformResponse, object> as NestLimiters

/** A guard of its own, beside the module's limits: `@UseGuards(rateLimit({ limit: 100, window: '1m' }))`. */
export const rateLimit: NestLimiters['rateLimit'] = limiters.rateLimit

/** An interceptor of its own: `@UseInterceptors(inflightLimit({ limit: 4 }))`. */
export const inflightLimit: NestLimiters['inflightLimit'] = limiters.inflightLimit

/** A guard that delays: `@UseGuards(slowDown({ after: 50, window: '1m', delayMs: 100, maxDelayMs: '5s' }))`. */
export const slowDown: NestLimiters['slowDown'] = limiters.slowDown

/** One place to inject backend, clock and observers of single guards and interceptors from. */
export const createSluice: NestLimiters['createSluice'] = limiters.createSluice
