import { shown } from '../errors/shown.ts'

/** Error of a call whose reply did not arrive before its deadline. */
export class LateError extends Error {
  readonly code = 'LATE'
  readonly mayHaveCounted: boolean

  constructor(message: string, mayHaveCounted: boolean) {
    super(message)
    this.name = 'LateError'
    this.mayHaveCounted = mayHaveCounted
  }
}

/** Error of a backend that returned an invalid answer. The message names the invalid part, without string values. */
export class MalformedAnswer extends Error {
  readonly code = 'MALFORMED'
  readonly mayHaveCounted = true

  constructor(part: string, received: unknown, expected: string) {
    super(`the backend returned an invalid answer: ${part}: expected ${expected}, received ${shown(received)}`)
    this.name = 'MalformedAnswer'
  }
}

/** Cause of failures whose error has no code. */
export const UNKNOWN_CAUSE = 'ERROR'

/** Returns the cause of a failure as one word: the `code` of the error, up to 64 characters, or `ERROR`. */
export function causeOf(error: unknown): string {
  const code = fieldOf(error, 'code')
  return typeof code === 'string' && code !== '' ? code.slice(0, 64) : UNKNOWN_CAUSE
}

/** Whether the error concerns only one key, while the backend works for other keys. */
export function concernsOneKey(error: unknown): boolean {
  return fieldOf(error, 'keyOnly') === true
}

/** Whether the backend may have applied the call although no reply arrived. */
export function mayHaveCounted(error: unknown): boolean {
  return fieldOf(error, 'mayHaveCounted') === true
}

// anything can be thrown, including objects whose properties throw when read
function fieldOf(error: unknown, name: string): unknown {
  try {
    return (error as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  } catch {
    return undefined
  }
}
