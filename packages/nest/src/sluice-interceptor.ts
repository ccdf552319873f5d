import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common'
import { admitAll, type HttpLimit, isPromise } from '@sluice/node-http/adapter'
import { defer, from, type Observable, of } from 'rxjs'
import { finalize, mergeMap, tap } from 'rxjs/operators'
import { deny } from './deny.ts'
import { type CallLife, isCall } from './exchange/call-exchange.ts'
import { exchangeOf, kindOf } from './exchange/exchange-of.ts'
import type { NestExchange, PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'
import { RouteLimits } from './route-limits.ts'

type Limits = readonly HttpLimit<PlatformRequest, PlatformResponse>[]

/**
 * Checks the caps of a handler, and ends the lifecycle of a call without a response. If it is bound twice, a request is
 * still counted once. It is an interceptor, because the caps come after all guards: a request that a guard refuses holds
 * no permit, and key functions can read what guards have set.
 */
export class SluiceInterceptor implements NestInterceptor {
  readonly #limits: RouteLimits

  constructor(limits: RouteLimits) {
    this.#limits = limits
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return checkCaps(this.#limits, { exchange: exchangeOf(context), context, next })
  }
}

Injectable()(SluiceInterceptor)
Inject(RouteLimits)(SluiceInterceptor, undefined, 0)

/**
 * The same for a class or method whose decorators need it, so that other handlers have no interceptor: with one, Nest
 * runs a handler in observables, which takes longer than all limits. It applies to calls that the guard has checked, and
 * belongs to no application, because Nest finds no injected interceptor if another library calls a controller.
 */
class DecoratedInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const exchange = exchangeOf(context)
    const limits = RouteLimits.ofGuarded(exchange.life)
    return limits ? checkCaps(limits, { exchange, context, next }) : next.handle()
  }
}

const decorated = new DecoratedInterceptor()

/** Key of the metadata of `@UseInterceptors` in all versions of Nest, which does not export it. */
const INTERCEPTORS = '__interceptors__'

/**
 * Binds the interceptor to a class or method before its other interceptors, regardless of the order of the decorators:
 * interceptors that read uploads must not run for a request that a cap denies.
 */
export function bindFirst(target: object): void {
  const known: readonly unknown[] = Reflect.getMetadata(INTERCEPTORS, target) ?? []
  Reflect.defineMetadata(INTERCEPTORS, [decorated, ...known.filter((one) => one !== decorated)], target)
}

function checkCaps(limits: RouteLimits, intercepted: Intercepted): Observable<unknown> {
  const { exchange, context, next } = intercepted
  if (limits.met(exchange.life, 'caps')) return next.handle()
  const { caps } = limits.of(kindOf(exchange), context.getClass(), context.getHandler())
  const work = caps.length === 0 ? next.handle() : runWithin(caps, intercepted, () => admitAll(caps, exchange))
  return isCall(exchange) ? endWith(work, exchange.call) : work
}

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
