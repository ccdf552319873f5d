import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common'
import { admitAll, type HttpLimit, isPromise } from '@sluice/node-http/adapter'
import { deny } from './deny.ts'
import { exchangeOf, kindOf } from './exchange/exchange-of.ts'
import type { NestExchange, PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'
import { RouteLimits } from './route-limits.ts'

type Limits = readonly HttpLimit<PlatformRequest, PlatformResponse>[]

/**
 * Checks the load shedding, the rates and the slow-downs of a handler. Runs for every route unless the module has
 * `bind: false`. If it is bound twice, a request is still counted once.
 */
export class SluiceGuard implements CanActivate {
  readonly #limits: RouteLimits

  constructor(limits: RouteLimits) {
    this.#limits = limits
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const exchange = exchangeOf(context)
    if (this.#limits.met(exchange.life, 'rates')) return true
    return checkLimits(
      this.#limits.of(kindOf(exchange), context.getClass(), context.getHandler()).rates,
      exchange,
      context,
    )
  }
}

Injectable()(SluiceGuard)
Inject(RouteLimits)(SluiceGuard, undefined, 0)

/** Returns true, or throws the denial. Returns a promise only if a limit does. */
export function checkLimits(
  limits: Limits,
  exchange: NestExchange,
  context: ExecutionContext,
): boolean | Promise<boolean> {
  const go = (admission: Awaited<ReturnType<typeof admitAll>>): boolean | Promise<boolean> => {
    if (typeof admission === 'object') return deny(context, exchange, admission)
    // the client has left: returning `false` would make Nest send a response
    return admission === 'gone' ? new Promise<never>(() => {}) : true
  }
  const admission = admitAll(limits, exchange)
  return isPromise(admission) ? admission.then(go) : go(admission)
}
