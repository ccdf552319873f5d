import { messageOf, SluiceError } from '@sluice/limiter-core/http'

/** Adds the location of options to the error they caused. Keeps its code; default: `SLUICE_BAD_OPTION`. */
export function errorAt(location: string, error: unknown): SluiceError {
  const code = (error as Partial<SluiceError> | null)?.code ?? 'SLUICE_BAD_OPTION'
  const message = messageOf(error).replace(`SluiceError: ${code}: `, '')
  return new SluiceError(code, `${location}: ${message}`, { cause: error })
}
