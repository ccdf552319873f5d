import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type Decision } from '@sluice/limiter-core'
import { DRAFT_HEADERS, rateEntry } from '@sluice/limiter-core/http'
import { FakeClock } from '@sluice/testkit'

const WINDOWS = { '1s': 1_000, '1m': 60_000, '1h': 3_600_000 } as const
type Window = keyof typeof WINDOWS
const LIMITS = [1, 2, 3, 5, 10, 31, 32, 33, 64, 100, 333, 1_000, 10_000]

/** The `RateLimit` values of a response: units left, and seconds until more are available. */
interface Told {
  readonly r: number
  readonly t: number
}

/** Returns how long a client waits after a response, in ms. */
type Pace = (told: Told) => number

/** Sends without waiting as long as units are left. */
const inBursts: Pace = ({ r, t }) => (r === 0 ? t * 1_000 : 0)

/** Spreads the remaining units, and the one that becomes available at the end, evenly over the time. */
const evenly: Pace = ({ r, t }) => (t * 1_000) / (r + 1)

const headers = DRAFT_HEADERS

function told(decision: Decision): Told {
  const [, r, t] = /;r=(\d+);t=(\d+)$/.exec(rateEntry(headers, '', decision).rateItems) ?? []
  return { r: Number(r), t: Number(t) }
}

/** Units that a client gets if it reads only `RateLimit`, in limits, and how often it is denied. */
function paced(pace: Pace, limit: number, window: Window, algorithm: AlgorithmName | undefined) {
  const clock = new FakeClock({ nowMs: 1_000 })
  const limiter = createLimiter({ policies: [{ limit, window, ...(algorithm && { algorithm }) }], clock })
  const rounds = limit < 1_000 ? 6 : 2
  let taken = 0
  let denied = 0
  for (const end = clock.now() + rounds * WINDOWS[window]; clock.now() < end; ) {
    const decision = limiter.take('pacing')
    if (decision.allowed) taken++
    else denied++
    clock.advance(pace(told(decision)))
  }
  limiter.close()
  return { limit, denied, share: taken / rounds / limit }
}

function expectAllOf(pace: Pace, limits: readonly number[], window: Window, algorithm: AlgorithmName | undefined) {
  for (const limit of limits) {
    const { share, ...rest } = paced(pace, limit, window, algorithm)
    expect({ ...rest, share: share >= 0.97 || share }).toEqual({ limit, denied: 0, share: true })
  }
}

/** Limits that an algorithm supports. */
function limitsOf(algorithm: AlgorithmName | undefined, window: Window): number[] {
  const most = algorithm === 'sliding-log' ? 128 : algorithm === 'gcra' ? WINDOWS[window] : Number.POSITIVE_INFINITY
  return LIMITS.filter((limit) => limit <= most)
}

const ALGORITHMS = [undefined, 'fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const

describe.each(ALGORITHMS.map((algorithm) => [algorithm ?? 'the default', algorithm] as const))(
  'a client that reads only `r` and `t` of %s gets its full limit and is never denied',
  (_name, algorithm) => {
    test.each(['1s', '1m', '1h'] as const)('if it waits `t` once nothing is left of a limit in %s', (window) => {
      expectAllOf(inBursts, limitsOf(algorithm, window), window, algorithm)
    })

    // whole seconds are too coarse to spread requests over one second
    test.each(['1m', '1h'] as const)('if it spreads the remaining units over `t`, in %s', (window) => {
      // two epochs of few units give a steady client less than its limit: 0.67 of 2, whatever the headers say
      const least = algorithm === 'sliding-window' ? 33 : 1
      expectAllOf(
        evenly,
        limitsOf(algorithm, window).filter((limit) => limit >= least),
        window,
        algorithm,
      )
    })
  },
)
