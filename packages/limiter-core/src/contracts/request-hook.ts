import type { MaybePromise } from './maybe-promise.ts'

/**
 * A function of the user's, of a request and what comes with it. Typed as a method, so that it may ask for a narrower
 * request than its framework promises, as `Request<{ id: string }>` is.
 */
export type RequestHook<Args extends readonly unknown[], Answer> = {
  hook(...args: Args): MaybePromise<Answer>
}['hook']
