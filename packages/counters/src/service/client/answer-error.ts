import { type SluiceCode, SluiceError } from '@sluice/limiter-core/backend'

/** The codes that a service answers as they are. */
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

/** The error of an answer that is none of success. */
export function answerError(status: number, text: string): SluiceError {
  const { code, detail } = problemIn(text)
  const known = CODES.find((one) => one === code)
  if (known) return new SluiceError(known, typeof detail === 'string' ? detail : `the service answered ${status}`)
  if (status === 401 || status === 403) {
    const got = `got one that the service answers with ${status}`
    return new SluiceError(
      'SLUICE_BAD_OPTION',
      `counterClient: token: ${got}, expected one with the scope for this call`,
    )
  }
  const why = typeof code === 'string' ? ` (${code})` : ''
  return new SluiceError('SLUICE_COUNTERS_UNAVAILABLE', `counterClient: got status ${status}${why} of the service`)
}

/** Of a service that answered what nobody understands. */
export function malformedAnswer(): SluiceError {
  return new SluiceError(
    'SLUICE_COUNTERS_UNAVAILABLE',
    'counterClient: got an answer that is none of a service of counters',
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
