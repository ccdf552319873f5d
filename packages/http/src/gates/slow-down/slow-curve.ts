import { badOption, type Duration, messageOf, parseMs, SluiceError, shown } from '@sluice/limiter-core/http'

/** The `delayMs` option: a delay per unit over `after`, or a function of the number of units over `after`. */
export type SlowDelay = Duration | ((over: number) => number)

/** Maximum number of calls of a delay function. The results take 80 KB. */
const MAX_STEPS = 10_000

/** The delay of the n-th unit over `after`, at most the longest delay. Later units use the last delay. */
export class SlowCurve {
  /** Number of units after which the delay no longer changes; at least 1. */
  readonly steps: number
  readonly #delayOf: (over: number) => number

  /** Throws a coded error for an invalid curve. A delay function is called only here. */
  constructor(delayMs: SlowDelay, maxDelayMs: Duration) {
    const longestMs = atLeastOne(parseMs(maxDelayMs, 'maxDelayMs'), 'maxDelayMs')
    if (typeof delayMs === 'function') {
      const delays = answersOf(delayMs, longestMs)
      this.steps = delays.length
      this.#delayOf = (over) => delays[over - 1]
    } else {
      const stepMs = atLeastOne(parseMs(delayMs, 'delayMs'), 'delayMs')
      this.steps = Math.ceil(longestMs / stepMs)
      this.#delayOf = (over) => Math.min(over * stepMs, longestMs)
    }
  }

  /** Returns the delay in milliseconds; 0 if `over` is 0. */
  delayMs(over: number): number {
    return over > 0 ? this.#delayOf(Math.min(over, this.steps)) : 0
  }
}

function atLeastOne(ms: number, option: string): number {
  if (ms >= 1) return ms
  throw badOption(option, ms, 'at least 1 ms')
}

/** Computes delays until the first one that reaches the maximum. Equal delays at the end become one step. */
function answersOf(delayMs: (over: number) => number, longestMs: number): Float64Array {
  const delays: number[] = []
  while (delays.length < MAX_STEPS && delays[delays.length - 1] !== longestMs) {
    delays.push(Math.min(answerOf(delayMs, delays.length + 1), longestMs))
  }
  let steps = delays.length
  while (steps > 1 && delays[steps - 2] === delays[steps - 1]) steps--
  if (delays[steps - 1] > 0) return Float64Array.from(delays.slice(0, steps))
  const message = `delayMs: expected a function whose last delay is above 0 ms, received 0 for n = ${delays.length}`
  throw new SluiceError('SLUICE_BAD_OPTION', message)
}

function answerOf(delayMs: (over: number) => number, over: number): number {
  let answer: unknown
  try {
    answer = delayMs(over)
  } catch (error) {
    const message = `delayMs: expected a delay of at least 0 ms for n = ${over}, received an error: ${messageOf(error)}`
    throw new SluiceError('SLUICE_BAD_OPTION', message, { cause: error })
  }
  if (typeof answer === 'number' && answer >= 0) return answer
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `delayMs: expected a delay of at least 0 ms for n = ${over}, received ${shown(answer, 'delayMs')}`,
  )
}
