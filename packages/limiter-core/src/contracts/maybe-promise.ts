/** A value, or a promise of it. Synchronous sources return the value, so that a limit in memory costs no promise. */
export type MaybePromise<T> = T | Promise<T>

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === 'function'
}

/**
 * Calls `next` with a value: synchronously if it is available, otherwise once when the promise resolves, even for
 * faulty thenables.
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value)
}

/** All values, at once where all are at hand. */
export function allOf<T>(values: readonly MaybePromise<T>[]): MaybePromise<T[]> {
  for (const value of values) if (isPromise(value)) return Promise.all(values)
  return values as T[]
}
