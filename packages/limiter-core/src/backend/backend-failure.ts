import { shown } from '../errors/shown.ts'

/** No answer came within the deadline of a call. */
export class LateError extends Error {
  readonly code = 'LATE'
  readonly mayHaveCounted: boolean

  constructor(message: string, mayHaveCounted: boolean) {
    super(message)
    this.name = 'LateError'
    this.mayHaveCounted = mayHaveCounted
  }
}

/** The answer came when its request no longer waited for it: nothing was spent. */
export function lateLedger(): LateError {
  return new LateError('the ledger of leases answered after the deadline', false)
}

/** A backend that answered what is no answer. Says of which part, and never what a text held. */
export class MalformedAnswer extends Error {
  readonly code = 'MALFORMED'

  constructor(part: string, got: unknown, expected: string) {
    super(`it answered what is no answer: ${part}: expected ${expected}, received ${shown(got)}`)
    this.name = 'MalformedAnswer'
  }
}

/** The cause of a failure whose error has no code. */
export const NAMELESS = 'ERROR'

/** Why a backend failed, in one word: the `code` of the error, `ERROR` where it has none. */
export function causeOf(error: unknown): string {
  const code = fieldOf(error, 'code')
  return typeof code === 'string' && code !== '' ? code.slice(0, 64) : NAMELESS
}

/** Whether the error says that this key alone is at fault, and that the backend is well. */
export function isOfOneKey(error: unknown): boolean {
  return fieldOf(error, 'keyOnly') === true
}

/** Whether the backend may have counted what it was asked to, though no answer came. */
export function mayHaveCounted(error: unknown): boolean {
  return fieldOf(error, 'mayHaveCounted') === true
}

// anything can be thrown, also what throws when it is looked at
function fieldOf(error: unknown, name: string): unknown {
  try {
    return (error as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  } catch {
    return undefined
  }
}
