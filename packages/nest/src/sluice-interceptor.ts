import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common'
import { admitAll, type HttpLimit, isPromise } from '@sluice/node-http/adapter'
import { defer, from, type Observable, of } from 'rxjs'
import { finalize, mergeMap, tap } from 'rxjs/operators'
import { type CallLife, isCall } from './call-exchange.ts'
import { deny } from './deny.ts'
import { exchangeOf, kindOf } from './exchange-of.ts'
import type { NestExchange, PlatformRequest, PlatformResponse } from './nest-exchange.ts'
import { RouteLimits } from './route-limits.ts'

type Limits = readonly HttpLimit<PlatformRequest, PlatformResponse>[]

/**
 * Checks the caps of a handler, and ends the lifecycle of a call without a response. If it is bound twice, a request is
 * still counted once.
 */
export class SluiceInterceptor implements NestInterceptor {
  readonly #limits: RouteLimits

  constructor(limits: RouteLimits) {
    this.#limits = limits
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const exchange = exchangeOf(context)
    if (this.#limits.met(exchange.life, 'caps')) return next.handle()
    const { caps } = this.#limits.of(kindOf(exchange), context.getClass(), context.getHandler())
    const admit = (): Admitted => admitAll(caps, exchange)
    const work = caps.length === 0 ? next.handle() : runWithin(caps, { exchange, context, next }, admit)
    return isCall(exchange) ? endWith(work, exchange.call) : work
  }
}

Injectable()(SluiceInterceptor)
Inject(RouteLimits)(SluiceInterceptor, undefined, 0)

type Admitted = ReturnType<typeof admitAll<PlatformRequest, PlatformResponse>>

/** Arguments of an interceptor, with the exchange. */
export interface Intercepted {
  readonly exchange: NestExchange
  readonly context: ExecutionContext
  readonly next: CallHandler
}

/** Runs the handler if the caps allow it. `admit` is called on subscription. */
export function runWithin(caps: Limits, intercepted: Intercepted, admit: () => Admitted): Observable<unknown> {
  const { exchange, context, next } = intercepted
  const waits = caps.some(({ holdUntil }) => holdUntil === 'handler')
  const go = (admission: Awaited<Admitted>): Observable<unknown> => {
    if (typeof admission === 'object') return defer(() => deny(context, exchange, admission))
    // the client has left, but other interceptors must see an end; an observable without a value would be an error
    if (admission === 'gone') return of(undefined)
    return admission === 'held' && waits ? held(next, exchange) : next.handle()
  }
  return defer(() => {
    const admission = admit()
    return isPromise(admission) ? from(admission).pipe(mergeMap(go)) : go(admission)
  })
}

/** Makes the permit also wait for the handler: until its observable completes, fails or is unsubscribed. */
function held(next: CallHandler, { life }: NestExchange): Observable<unknown> {
  let done = (): void => {}
  life.holdUntil(
    new Promise<void>((resolve) => {
      done = resolve
    }),
  )
  return next.handle().pipe(finalize(() => done()))
}

/** Ends the lifecycle of a call when its observable completes, fails or is unsubscribed. */
export function endWith(work: Observable<unknown>, call: CallLife): Observable<unknown> {
  let completed = false
  const complete = (): void => {
    completed = true
  }
  return work.pipe(
    tap({ complete }),
    finalize(() => call.end(completed)),
  )
}
