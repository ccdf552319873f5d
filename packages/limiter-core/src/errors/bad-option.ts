import { SluiceError } from './errors.ts'
import { shown } from './shown.ts'

/**
 * Returns a `SLUICE_BAD_OPTION` error with the message `option: expected <what>, received <value>`. The last word of
 * `option` determines whether the message contains a string value, see `shown`.
 */
export function badOption(option: string, received: unknown, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `${option}: expected ${expected}, received ${shown(received, option)}`)
}
