import { type SluiceCode, SluiceError } from '@sluice/limiter-core/backend'

/** Codes of the service that the client throws unchanged. */
const CODES: readonly SluiceCode[] = [
  'SLUICE_BAD_COUNTER_ID',
  'SLUICE_BAD_DELTA',
  'SLUICE_BAD_TOKEN',
  'SLUICE_BAD_OPTION',
  'SLUICE_TOKEN_REUSED',
  'SLUICE_COUNTER_RANGE',
  'SLUICE_COUNTERS_FULL',
  'SLUICE_COUNTERS_UNAVAILABLE',
  'SLUICE_DENIED',
]

interface AnsweredProblem {
  readonly code?: unknown
  readonly detail?: unknown
}

/** Returns the error for a response that is not successful. */
export function responseError(status: number, text: string): SluiceError {
  const { code, detail } = problemIn(text)
  const known = CODES.find((one) => one === code)
  if (known)
    return new SluiceError(known, typeof detail === 'string' ? detail : `the service replied with status ${status}`)
  if (status === 401 || status === 403) {
    const message = `expected a token with the scope for this call; the service replied with status ${status}`
    return new SluiceError('SLUICE_BAD_OPTION', `counterClient: token: ${message}`)
  }
  const why = typeof code === 'string' ? ` (${code})` : ''
  return new SluiceError(
    'SLUICE_COUNTERS_UNAVAILABLE',
    `counterClient: the service replied with status ${status}${why}`,
  )
}

/** Returns the error for a response body that cannot be understood. */
export function malformedResponse(): SluiceError {
  return new SluiceError(
    'SLUICE_COUNTERS_UNAVAILABLE',
    'counterClient: url: expected the address of a counterService, received an unexpected response body',
  )
}

function problemIn(text: string): AnsweredProblem {
  try {
    const problem: unknown = JSON.parse(text)
    return typeof problem === 'object' && problem !== null ? problem : {}
  } catch {
    return {}
  }
}
