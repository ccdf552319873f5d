import { SluiceError } from '../errors/errors.ts'
import { kindOf, shown } from '../errors/shown.ts'

/** Refuses what is no options object, and a misspelt option, which would otherwise be its default in silence. */
export function checkOptions(where: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    const expected = `an object of ${known.join(', ')}`
    throw new SluiceError('SLUICE_BAD_OPTION', `${where} options: got ${kindOf(options)}, expected ${expected}`)
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `${where} options: got ${shown(name, 'name')}, expected ${known.join(' or ')}`,
    )
  }
}
