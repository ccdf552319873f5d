import { describe, expect, test } from '@jest/globals'
import { type AlgorithmName, createLimiter, type Decision } from '@sluice/limiter-core'
import { compileHeaders, rateEntry } from '@sluice/limiter-core/http'
import { FakeClock } from '@sluice/testkit'

const WINDOWS = { '1s': 1_000, '1m': 60_000, '1h': 3_600_000 } as const
type Window = keyof typeof WINDOWS
const LIMITS = [1, 2, 3, 5, 10, 31, 32, 33, 64, 100, 333, 1_000, 10_000]

/** What a response tells: what is left, and in how many seconds it is more. */
interface Told {
  readonly r: number
  readonly t: number
}

/** How long a client waits after a response, in ms. */
type Pace = (told: Told) => number

/** Asks on as long as anything is left. */
const inBursts: Pace = ({ r, t }) => (r === 0 ? t * 1_000 : 0)

/** What is left, and the unit that comes at the end, evenly over the time. */
const evenly: Pace = ({ r, t }) => (t * 1_000) / (r + 1)

const headers = compileHeaders({})

function told(decision: Decision): Told {
  const [, r, t] = /;r=(\d+);t=(\d+)$/.exec(rateEntry(headers, '', decision).rateItems) ?? []
  return { r: Number(r), t: Number(t) }
}

/** What a client gets who reads nothing but `RateLimit`, in limits; and how often it is denied. */
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

/** Limits that an algorithm keeps. */
function limitsOf(algorithm: AlgorithmName | undefined, window: Window): number[] {
  const most = algorithm === 'sliding-log' ? 128 : algorithm === 'gcra' ? WINDOWS[window] : Number.POSITIVE_INFINITY
  return LIMITS.filter((limit) => limit <= most)
}

const ALGORITHMS = [undefined, 'fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const

describe.each(ALGORITHMS.map((algorithm) => [algorithm ?? 'the default', algorithm] as const))(
  'a client that reads nothing but `r` and `t` of %s gets all of its limit and is never denied',
  (_name, algorithm) => {
    test.each(['1s', '1m', '1h'] as const)('where it waits `t` once nothing is left of a limit in %s', (window) => {
      expectAllOf(inBursts, limitsOf(algorithm, window), window, algorithm)
    })

    // whole seconds are no measure to spread requests over one of them
    test.each(['1m', '1h'] as const)('where it spreads what is left over `t`, in %s', (window) => {
      // two epochs of few units give an even client less than a limit: 0.67 of 2, whatever it is told
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
