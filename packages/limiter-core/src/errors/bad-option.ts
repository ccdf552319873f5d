import { SluiceError } from './errors.ts'
import { shown } from './shown.ts'

/** Of an option that got what it cannot take. `option` as it stands in the message: its last word is its name. */
export function badOption(option: string, got: unknown, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `${option}: got ${shown(got, option)}, expected ${expected}`)
}
