import { kindOf } from '@sluice/limiter-core/backend'

/**
 * Reads a value that another process sent. Returns a `T`, or throws `MalformedMessage`. Readers of several values
 * return a copy that contains only what was read, and read each value once.
 */
export type Reader<T> = (value: unknown) => T

/** A message that no process of this release sends. The text of the error does not contain the message. */
export class MalformedMessage extends Error {
  constructor(expected: string, received: unknown) {
    super(`expected ${expected}, received ${kindOf(received)}`)
  }
}

/** Reads any value for which `isValid` returns true. */
export function checked<T>(expected: string, isValid: (value: unknown) => boolean): Reader<T> {
  return (value) => {
    if (isValid(value)) return value as T
    throw new MalformedMessage(expected, value)
  }
}

/** Reads a number from 0 to 2^53 - 1, which may have a fraction. */
export const amount: Reader<number> = checked('a number from 0 to 2^53 - 1', (value) => {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
})
/** Reads an integer from 0 to 2^53 - 1. */
export const count: Reader<number> = checked('an integer from 0 to 2^53 - 1', (value) => {
  return Number.isSafeInteger(value) && (value as number) >= 0
})
/** Reads a string of any length. */
export const string: Reader<string> = checked('a string', (value) => typeof value === 'string')
/** Reads an object that is not an array. Its fields are not read. */
export const object: Reader<object> = checked('an object', (value) => {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
})

/** Reads a string of at most `most` UTF-16 code units. */
export function text(most: number): Reader<string> {
  return checked(`a string of at most ${most} characters`, (value) => typeof value === 'string' && value.length <= most)
}

/** Reads an array of at most `most` items. The items are not read. */
export function arrayOf(most: number): Reader<readonly unknown[]> {
  return checked(`an array of at most ${most} items`, (value) => Array.isArray(value) && value.length <= most)
}

/** Reads one of the given values. */
export function oneOf<const T extends readonly unknown[]>(...values: T): Reader<T[number]> {
  return checked(values.join(' or '), (value) => values.some((one) => one === value))
}

/** Reads undefined, or what `read` accepts. */
export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value) => (value === undefined ? undefined : read(value))
}

const anyArray = arrayOf(Number.POSITIVE_INFINITY)

/** Reads the first `most` items of an array, and drops the others. */
export function firstOf<T>(most: number, read: Reader<T>): Reader<T[]> {
  return (value) => Array.from(anyArray(value).slice(0, most), (item) => read(item))
}

/** Reads an array that begins with these items, and drops the others. A missing item is read as undefined. */
export function tuple<T extends readonly unknown[]>(...read: { readonly [K in keyof T]: Reader<T[K]> }): Reader<T> {
  return (value) => {
    const items = anyArray(value)
    return read.map((readItem, index) => readItem(items[index])) as unknown as T
  }
}

/**
 * Reads these own fields of an object, and drops the others. A missing field is read as undefined, and is missing in
 * the result too unless its reader returns another value.
 */
export function fields<T extends object>(read: { readonly [K in keyof T]-?: Reader<T[K]> }): Reader<T> {
  const names = Object.keys(read) as (keyof T)[]
  return (value) => {
    const sent = object(value) as T
    const found: Partial<T> = {}
    for (const name of names) {
      const isSent = Object.hasOwn(sent, name)
      const field = read[name](isSent ? sent[name] : undefined)
      if (isSent || field !== undefined) found[name] = field
    }
    return found as T
  }
}
