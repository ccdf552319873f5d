import { type SluiceCode, SluiceError } from './errors.ts'
import { shown } from './shown.ts'

/**
 * Returns an error with the message `option: expected <what>, received <value>`. The last word of `option` determines
 * whether the message contains a string value, see `shown`.
 */
export function badValue(code: SluiceCode, option: string, received: unknown, expected: string): SluiceError {
  return new SluiceError(code, `${option}: expected ${expected}, received ${shown(received, option)}`)
}

/** Returns a `SLUICE_BAD_OPTION` error, see `badValue`. */
export function badOption(option: string, received: unknown, expected: string): SluiceError {
  return badValue('SLUICE_BAD_OPTION', option, received, expected)
}
