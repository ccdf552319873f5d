import { messageOf, SluiceError } from '@sluice/limiter-core/http'

/** What was thrown of options, with their location and the code that it had; `SLUICE_BAD_OPTION` if none. */
export function errorAt(location: string, error: unknown): SluiceError {
  const code = (error as Partial<SluiceError> | null)?.code ?? 'SLUICE_BAD_OPTION'
  const message = messageOf(error).replace(`SluiceError: ${code}: `, '')
  return new SluiceError(code, `${location}: ${message}`, { cause: error })
}
