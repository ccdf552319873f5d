import { isPromise, type MaybePromise } from '@sluice/limiter-core/http'
import type { HttpExchange } from '../exchange.ts'
import { type Admission, type HttpLimit, isDeniedRequest } from './http-limit.ts'

/** Checks limits in order until one denies. Returns a promise only if a limit does. */
export function admitAll<Req, Res>(
  limits: readonly HttpLimit<Req, Res>[],
  exchange: HttpExchange<Req, Res>,
  from = 0,
  held = false,
): MaybePromise<Admission<Req, Res>> {
  let holds = held
  for (let index = from; index < limits.length; index++) {
    const admission = limits[index].admit(exchange)
    if (isPromise(admission)) {
      return admission.then((outcome) => {
        if (isDeniedRequest(outcome) || outcome === 'gone') return outcome
        return admitAll(limits, exchange, index + 1, holds || outcome === 'held')
      })
    }
    if (isDeniedRequest(admission) || admission === 'gone') return admission
    holds ||= admission === 'held'
  }
  return holds ? 'held' : 'passed'
}
