import { SluiceError, shown } from '../errors.ts'

export function badOption(option: string, got: unknown, expected: string): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `${option}: got ${shown(got)}, expected ${expected}`)
}

/** Refuses what is no options object, and a misspelt option, which would otherwise be its default in silence. */
export function checkOptions(where: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw badOption(`${where} options`, options, `an object of ${known.join(', ')}`)
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw badOption(`${where} options`, name, known.join(' or '))
  }
}
