import { SluiceError } from './errors.ts'
import { shown } from './shown.ts'

/**
 * Returns the error of an option with an unusable value: `option: expected <what>, received <value>`.
 * The last word of `option` decides whether the message may show the value (see `shown`).
 */
export function badOption(option: string, received: unknown, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `${option}: expected ${expected}, received ${shown(received, option)}`)
}
