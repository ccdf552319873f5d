import { andThen } from '../contracts/maybe-promise.ts'
import type { Decision, MaybePromise, Moment, RequestView } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import type { LimiterReport } from '../observers/limiter-report.ts'
import { optionsOf, withInherited } from '../options/options.ts'
import { DEFAULT_NAMES } from '../policy/default-names.ts'
import { type Mode, modeOf, parseMode } from '../policy/mode.ts'
import { LARGEST_HEADER_INTEGER, wholeUnits } from '../policy/policy.ts'
import { type HttpDenial, httpDenial } from './gate.ts'
import type { RateCheck } from './rate-check.ts'
import { RateGate } from './rate-gate.ts'
import { scopeOfPart } from './rate-layers.ts'
import { SHARED_RATE_OPTIONS } from './rate-plans.ts'
import { parseStatus } from './request-rules.ts'
import { SlowCurve } from './slow-curve.ts'
import type { SlowDownOptions } from './slow-down-options.ts'

/** How long a request has to wait, and what counted it. */
export interface SlowCheck<Req, Res> extends RateCheck<Req, Res> {
  /** 0 for a request that is not delayed. */
  readonly delayMs: number
  /** In shadow nobody waits: it is what the delay would be. */
  readonly shadow: boolean
}

// it writes no headers
const OF_HEADERS: readonly string[] = ['headers', 'headersOn', 'legacy', 'partitionKey']
const SHARED = SHARED_RATE_OPTIONS.filter((name) => !OF_HEADERS.includes(name)) as (keyof SlowDownOptions)[]
const POLICY = ['name', 'window', 'algorithm', 'slices', 'unit'] as const satisfies readonly (keyof SlowDownOptions)[]
const OWN = ['after', 'delayMs', 'maxDelayMs', 'maxWaiting'] as const satisfies readonly (keyof SlowDownOptions)[]
const MOST_WAITING = 1_000

/**
 * `slowDown` without a framework: from the view of a request to how long it waits. Beneath it is a policy with room for
 * `after` units and for as many more as the curve has policies. It never denies: who has used them all waits as the last
 * policy says. In a sliding window, the default, such requests are counted as well, so that who goes on asking stays
 * there; the other algorithms count no more until some of it has passed.
 */
export class SlowDownGate<Req, Res> {
  readonly options: SlowDownOptions<Req, Res>
  readonly maxWaiting: number
  readonly mode: Mode
  readonly name: string
  /** It writes no headers. */
  readonly shownNames: readonly string[] = []
  readonly rate: RateGate<Req, Res>
  readonly #adapterOptions: readonly string[]
  readonly #after: number
  readonly #curve: SlowCurve
  readonly #status: number
  /** Requests beyond the end of the curve are charged without asking: only a sliding window forgets such a debt in time. */
  readonly #countsBeyond: boolean

  /**
   * `adapterOptions` are the names of options that the adapter reads itself; `place` is the scope on a backend of the
   * user's, before that of the options.
   */
  constructor(options: SlowDownOptions<Req, Res>, adapterOptions: readonly string[] = [], routeScope?: string) {
    const known = [...OWN, ...POLICY, ...SHARED, ...adapterOptions]
    optionsOf('slowDown', options as object as Record<string, unknown>, known)
    const {
      after,
      delayMs,
      maxDelayMs,
      maxWaiting = MOST_WAITING,
      name = DEFAULT_NAMES.slowDown,
      status = 429,
      mode,
    } = options
    const { algorithm = 'sliding-window' } = options
    this.options = options
    this.name = name
    this.#adapterOptions = adapterOptions
    this.#after = wholeUnitsOrNone(after)
    this.maxWaiting = wholeUnits(maxWaiting, 'maxWaiting')
    this.#curve = new SlowCurve(delayMs, maxDelayMs)
    this.#status = parseStatus(status)
    if (mode !== undefined) parseMode(mode, 'mode')
    this.mode = modeOf(mode)
    this.#countsBeyond = algorithm === 'sliding-window'
    const limit = this.#after + this.#curve.steps
    // to observers a request that waits was not denied: its policy counts and has no veto
    const counting = {
      name,
      algorithm,
      limit,
      window: options.window,
      mode: this.mode === 'off' ? 'off' : 'shadow',
    } as const
    const shared = some(options, [...POLICY, ...SHARED, ...adapterOptions])
    this.rate = new RateGate<Req, Res>({ ...shared, ...counting, headers: 'none' }, adapterOptions, { routeScope })
  }

  /** The gate of a part of the application, with its options where `options` says nothing. */
  below(options: SlowDownOptions<Req, Res>, routeScope: string): SlowDownGate<Req, Res> {
    const all = withInherited(options, some(this.options, [...SHARED, ...this.#adapterOptions]))
    return new SlowDownGate(all, this.#adapterOptions, scopeOfPart(this.options.scope, options, routeScope))
  }

  get report(): LimiterReport {
    return this.rate.report
  }

  /** Undefined for a request that is not counted, and so not delayed. */
  check(view: RequestView<Req>, moment?: Moment): MaybePromise<SlowCheck<Req, Res> | undefined> {
    return andThen(this.rate.check(view, moment), (check) => {
      if (!check) return undefined
      const chargedBeyond = this.#isBeyond(check.decision)
      if (chargedBeyond) this.#charge(check, 1)
      const delayMs = this.#delayMs(check.decision)
      const isWaived = check.gate.limiter.controlled?.isWaived({ name: this.name }) ?? false
      return { ...check, chargedBeyond, delayMs, shadow: this.mode === 'shadow' || isWaived }
    })
  }

  /** The answer where too many wait already: to come back when the wait would have been over. */
  denial(delayMs: number): HttpDenial {
    return httpDenial(this.#status, [this.name], delayMs)
  }

  /** Gives back what a request took that is denied after all: a denial costs nothing. */
  forget(check: SlowCheck<Req, Res>): void {
    if (check.decision.verdicts[0]?.allowed || check.chargedBeyond) this.#charge(check, -1)
  }

  /** Whether a request came after all units were used, and is counted nevertheless. */
  #isBeyond({ verdicts: [verdict] }: Decision): boolean {
    return this.#countsBeyond && verdict !== undefined && !verdict.allowed && verdict.remaining === 0
  }

  /** Adds what a request costs, so many times. Never throws nor rejects. */
  #charge({ gate, keys: [key], costs: [cost], decision }: RateCheck<Req, Res>, times: number): void {
    if (key === undefined) return
    const failed = (error: unknown): void => this.rate.observers.event('backendFailed', { error })
    try {
      Promise.resolve(gate.limiter.chargeOne(0, key, times * cost, decision)).catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  #delayMs({ verdicts: [verdict] }: Decision): number {
    if (verdict === undefined) return 0
    const left = verdict.allowed ? verdict.remaining : 0
    return this.#curve.delayMs(this.#curve.steps - left)
  }
}

function wholeUnitsOrNone(after: unknown): number {
  const whole = Number.isInteger(after) && (after as number) >= 0 && (after as number) <= LARGEST_HEADER_INTEGER
  if (whole) return after as number
  throw new SluiceError(
    'SLUICE_BAD_LIMIT',
    `after: expected a whole number from 0 to ${LARGEST_HEADER_INTEGER}, received ${shown(after, 'after')}`,
  )
}

function some<T extends object>(options: T, names: readonly string[]): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name))) as Partial<T>
}
