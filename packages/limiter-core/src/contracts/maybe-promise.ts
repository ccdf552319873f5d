/** A value or a promise of it. Synchronous backends return plain values, which avoids the cost of a promise. */
export type MaybePromise<T> = T | Promise<T>

/** Whether the value is a promise or another thenable. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === 'function'
}

/**
 * Calls `next` with a value: synchronously if the value is not a promise, otherwise when the promise resolves. A faulty
 * thenable that resolves several times still calls `next` once.
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value)
}

/** Returns all values: synchronously if none of them is a promise, otherwise like `Promise.all`. */
export function allOf<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]> {
  for (const value of values) if (isPromise(value)) return Promise.all(values)
  return values as T[]
}
