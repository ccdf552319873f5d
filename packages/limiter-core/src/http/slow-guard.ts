import type { Decision, MaybePromise, Moment, RequestView } from '../contracts.ts'
import { type Duration, parseMs } from '../duration.ts'
import { SluiceError, shown } from '../errors.ts'
import { andThen } from '../maybe-promise.ts'
import { optionsOf } from '../options.ts'
import { POLICY_OPTIONS, type PolicyInput, wholeUnits } from '../policy.ts'
import { type HttpDenial, httpDenial } from './gate.ts'
import { type RateCheck, RateGuard } from './rate-guard.ts'
import type { SharedRateLimitOptions } from './rate-limit-options.ts'
import { parseStatus } from './request-rules.ts'

/** Options of `slowDown`. */
export interface SlowDownOptions<Req = unknown, Res = unknown>
  extends Omit<SharedRateLimitOptions<Req, Res>, 'headers' | 'headersOn' | 'legacy' | 'partitionKey'>,
    Pick<PolicyInput, 'name' | 'window' | 'algorithm' | 'slices' | 'unit'> {
  /** Units in a window that are not delayed. */
  readonly after: number
  /**
   * The curve: the n-th unit over `after` waits n times this; or a function of n, from 1, that answers ms. A function
   * is asked at start-up, up to the first n that reaches `maxDelayMs` or 10,000.
   */
  readonly delayMs: Duration | ((over: number) => number)
  /** The longest delay. */
  readonly maxDelayMs: Duration
  /** Requests that wait at once; one more is denied. 1,000 unless said. */
  readonly maxWaiting?: number | undefined
}

/** How long a request has to wait, and what counted it. */
export interface SlowCheck<Req, Res> extends RateCheck<Req, Res> {
  readonly delayMs: number
}

const SHARED = [
  'key',
  'cost',
  'scope',
  'backend',
  'skip',
  'mode',
  'status',
  'denied',
  'observers',
  'clock',
] as const satisfies readonly (keyof SlowDownOptions)[]
const POLICY = ['name', 'window', 'algorithm', 'slices', 'unit'] as const
const OWN = ['after', 'delayMs', 'maxDelayMs', 'maxWaiting'] as const
const MOST_STEPS = 10_000

/**
 * `slowDown` without a framework: from the view of a request to how long it waits. Beneath it is a policy with room for
 * `after` units and for as many more as the curve takes to reach its end; a client who has used them all waits longest,
 * and is not counted further until some of it has passed.
 */
export class SlowGuard<Req, Res> {
  readonly options: SlowDownOptions<Req, Res>
  readonly maxWaiting: number
  readonly name: string
  readonly rate: RateGuard<Req, Res>
  readonly #after: number
  readonly #delays: Float64Array
  readonly #status: number

  /** `adapterOptions` are the names of options that the adapter reads itself. */
  constructor(options: SlowDownOptions<Req, Res>, adapterOptions: readonly string[] = []) {
    optionsOf('slowDown', options as object as Record<string, unknown>, [
      ...OWN,
      ...POLICY,
      ...SHARED,
      ...adapterOptions,
    ])
    const { after, delayMs, maxDelayMs, maxWaiting = 1_000, name = 'slow-down', status = 429 } = options
    this.options = options
    this.name = name
    this.#after = after === 0 ? 0 : wholeUnits(after, 'after')
    this.maxWaiting = wholeUnits(maxWaiting, 'maxWaiting')
    this.#delays = curve(delayMs, parseMs(maxDelayMs, 'maxDelayMs'))
    this.#status = parseStatus(status)
    const known: readonly string[] = [...POLICY_OPTIONS, ...SHARED, ...adapterOptions]
    const rate = Object.fromEntries(Object.entries(options).filter(([option]) => known.includes(option)))
    this.rate = new RateGuard<Req, Res>(
      { ...(rate as object), name, limit: this.#after + this.#delays.length, window: options.window, headers: 'none' },
      adapterOptions,
    )
  }

  /** Undefined for a request that is not counted, and so not delayed. */
  check(view: RequestView<Req>, moment?: Moment): MaybePromise<SlowCheck<Req, Res> | undefined> {
    return andThen(this.rate.check(view, moment), (check) =>
      check ? { ...check, delayMs: this.delayMs(check.decision) } : undefined,
    )
  }

  /** What a decision on its policy means: ms to wait, 0 for none. */
  delayMs({ verdicts: [verdict] }: Decision): number {
    if (verdict === undefined || verdict.shadow) return 0
    const over = verdict.policy.limit - this.#after - (verdict.allowed ? verdict.remaining : 0)
    return over > 0 ? this.#delays[over - 1] : 0
  }

  /** The answer where too many wait already. */
  denial(delayMs: number): HttpDenial {
    return httpDenial(this.#status, [this.name], delayMs)
  }
}

/** The delay of the n-th unit over, at n - 1; the last one is the longest. */
function curve(delayMs: SlowDownOptions['delayMs'], maxDelayMs: number): Float64Array {
  if (maxDelayMs < 1) {
    throw new SluiceError('SLUICE_BAD_OPTION', `maxDelayMs: got ${shown(maxDelayMs)}, expected at least 1`)
  }
  const delayOf = typeof delayMs === 'function' ? delayMs : linear(parseMs(delayMs, 'delayMs'))
  const delays: number[] = []
  do {
    const delay = delayOf(delays.length + 1)
    if (typeof delay !== 'number' || !(delay >= 0)) {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `delayMs: got ${shown(delay)} for ${delays.length + 1} over, expected at least 0 ms`,
      )
    }
    delays.push(Math.min(delay, maxDelayMs))
  } while (delays[delays.length - 1] < maxDelayMs && delays.length < MOST_STEPS)
  return Float64Array.from(delays)
}

function linear(stepMs: number): (over: number) => number {
  if (stepMs >= 1) return (over) => over * stepMs
  throw new SluiceError('SLUICE_BAD_OPTION', `delayMs: got ${shown(stepMs)}, expected at least 1`)
}
