import { messageOf, SluiceError } from '@sluice/limiter-core'

/** What was thrown of options, with the place where they stand and the code that it had; `SLUICE_BAD_OPTION` if none. */
export function errorAt(place: string, error: unknown): SluiceError {
  const code = (error as Partial<SluiceError> | null)?.code ?? 'SLUICE_BAD_OPTION'
  const message = messageOf(error).replace(`SluiceError: ${code}: `, '')
  return new SluiceError(code, `${place}: ${message}`, { cause: error })
}
