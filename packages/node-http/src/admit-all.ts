import { isPromise, type MaybePromise } from '@sluice/limiter-core'
import type { Exchange } from './exchange.ts'
import { type Admission, isRefusal, type Refusal, type RequestLimit } from './request-limit.ts'

/** A request that was denied, and the limit that did it. */
export interface LayerRefusal<Req, Res> {
  readonly refusal: Refusal
  readonly by: RequestLimit<Req, Res>
}

/** Runs limits one after the other until one denies. Answers at once while each of them does. */
export function admitAll<Req, Res>(
  limits: readonly RequestLimit<Req, Res>[],
  exchange: Exchange<Req, Res>,
  from = 0,
  held = false,
): MaybePromise<Exclude<Admission, Refusal> | LayerRefusal<Req, Res>> {
  let holds = held
  for (let index = from; index < limits.length; index++) {
    const admission = limits[index].admit(exchange)
    if (isPromise(admission)) {
      return admission.then((come) => {
        if (isRefusal(come)) return { refusal: come, by: limits[index] }
        return come === 'gone' ? come : admitAll(limits, exchange, index + 1, holds || come === 'held')
      })
    }
    if (isRefusal(admission)) return { refusal: admission, by: limits[index] }
    if (admission === 'gone') return admission
    holds ||= admission === 'held'
  }
  return holds ? 'held' : 'passed'
}
