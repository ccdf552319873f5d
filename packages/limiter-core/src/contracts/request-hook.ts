import type { MaybePromise } from './maybe-promise.ts'

/**
 * A user-defined function of a request and further arguments. It is typed as a method, so that users may declare a
 * narrower request type, such as `Request<{ id: string }>`.
 */
export type RequestHook<Args extends readonly unknown[], Answer> = {
  hook(...args: Args): MaybePromise<Answer>
}['hook']
