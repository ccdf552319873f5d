import { shown } from '../errors/shown.ts'

/** Thrown if no reply arrived within the deadline of a call. */
export class LateError extends Error {
  readonly code = 'LATE'
  readonly mayHaveCounted: boolean

  constructor(message: string, mayHaveCounted: boolean) {
    super(message)
    this.name = 'LateError'
    this.mayHaveCounted = mayHaveCounted
  }
}

/** Returns the error of a reply that arrived after its request had stopped waiting; nothing was spent. */
export function lateLedger(): LateError {
  return new LateError('the ledger of leases answered after the deadline', false)
}

/**
 * Thrown if a backend returned an invalid answer. The message names the invalid part and never contains string
 * values.
 */
export class MalformedAnswer extends Error {
  readonly code = 'MALFORMED'

  constructor(part: string, got: unknown, expected: string) {
    super(`it answered what is no answer: ${part}: expected ${expected}, received ${shown(got)}`)
    this.name = 'MalformedAnswer'
  }
}

/** Cause of a failure whose error has no code. */
export const NAMELESS = 'ERROR'

/** Returns the cause of a failure as one word: the `code` of the error, or `ERROR`. */
export function causeOf(error: unknown): string {
  const code = fieldOf(error, 'code')
  return typeof code === 'string' && code !== '' ? code.slice(0, 64) : NAMELESS
}

/** Whether the error concerns only this key, and the backend works otherwise. */
export function isOfOneKey(error: unknown): boolean {
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
