import {
  andThen,
  checkedUnits,
  DEFAULT_NAMES,
  type Decision,
  type HttpDenial,
  httpDenial,
  LARGEST_HEADER_INTEGER,
  type MaybePromise,
  type Mode,
  type Moment,
  modeOf,
  optionsOf,
  parseMode,
  type RequestView,
  SluiceError,
  shown,
} from '@sluice/limiter-core/http'
import type { LimiterReport } from '../../report/limiter-report.ts'
import { withInherited } from '../options/inherited-options.ts'
import { SHARED_RATE_OPTIONS } from '../options/rate-inputs.ts'
import { parseStatus } from '../options/request-rules.ts'
import type { RateCheck } from '../rate-check.ts'
import { RateGate } from '../rate-gate.ts'
import { scopeOfPart } from '../rate-layers.ts'
import { SlowCurve } from './slow-curve.ts'
import type { SlowDownOptions } from './slow-down-options.ts'

/** Result of a slow-down check: how long the request has to wait, and how it was counted. */
export interface SlowCheck<Req, Res> extends RateCheck<Req, Res> {
  /** Delay in milliseconds; 0 if the request is not delayed. */
  readonly delayMs: number
  /** Whether the delay is only reported to observers and not applied. */
  readonly shadow: boolean
}

// a slow-down writes no headers
const HEADER_OPTIONS: readonly string[] = ['headers', 'headersOn', 'legacy', 'partitionKey']
const SHARED = SHARED_RATE_OPTIONS.filter((name) => !HEADER_OPTIONS.includes(name)) as (keyof SlowDownOptions)[]
const POLICY = ['name', 'window', 'algorithm', 'slices', 'unit'] as const satisfies readonly (keyof SlowDownOptions)[]
const OWN = ['after', 'delayMs', 'maxDelayMs', 'maxWaiting'] as const satisfies readonly (keyof SlowDownOptions)[]
/** All options of `slowDown`, except those of a framework. */
export const SLOW_DOWN_OPTIONS: readonly (keyof SlowDownOptions)[] = [...OWN, ...POLICY, ...SHARED]
const DEFAULT_MAX_WAITING = 1_000

/**
 * Framework-independent part of `slowDown`: computes how long a request has to wait.
 *
 * It counts with a policy whose limit is `after` plus the number of steps of the delay curve, so that every algorithm
 * and backend can count it. (A count without an end would make all its keys look unused, and a flood of new keys would
 * evict the worst clients first.) The policy never denies:
 * once all its units are used, requests wait for the longest delay of the curve. In a sliding window (the default)
 * these requests are counted too, so a client that keeps sending keeps the longest delay. Other algorithms count
 * again only after some units have become available.
 */
export class SlowDownGate<Req, Res> {
  readonly options: SlowDownOptions<Req, Res>
  readonly maxWaiting: number
  readonly mode: Mode
  readonly name: string
  /** Empty: a slow-down writes no headers. */
  readonly shownNames: readonly string[] = []
  readonly rate: RateGate<Req, Res>
  readonly #adapterOptions: readonly string[]
  readonly #after: number
  readonly #curve: SlowCurve
  readonly #status: number
  /**
   * Whether requests beyond the end of the curve are charged unconditionally. Only a sliding window drops the
   * resulting debt in time.
   */
  readonly #countsBeyond: boolean

  /**
   * `adapterOptions` are the names of options that only the adapter reads. On a user-provided backend, `routeScope`
   * takes precedence over `options.scope`.
   */
  constructor(options: SlowDownOptions<Req, Res>, adapterOptions: readonly string[] = [], routeScope?: string) {
    optionsOf('slowDown', options as object as Record<string, unknown>, [...SLOW_DOWN_OPTIONS, ...adapterOptions])
    const {
      after,
      delayMs,
      maxDelayMs,
      maxWaiting = DEFAULT_MAX_WAITING,
      name = DEFAULT_NAMES.slowDown,
      status = 429,
      mode,
    } = options
    const { algorithm = 'sliding-window' } = options
    this.options = options
    this.name = name
    this.#adapterOptions = adapterOptions
    this.#after = zeroOrMoreUnits(after)
    this.maxWaiting = checkedUnits(maxWaiting, 'maxWaiting')
    this.#curve = new SlowCurve(delayMs, maxDelayMs)
    this.#status = parseStatus(status)
    if (mode !== undefined) parseMode(mode, 'mode')
    this.mode = modeOf(mode)
    this.#countsBeyond = algorithm === 'sliding-window'
    const limit = this.#after + this.#curve.steps
    // in shadow mode the policy counts without denying, so observers do not see delayed requests as denied
    const counting = {
      name,
      algorithm,
      limit,
      window: options.window,
      mode: this.mode === 'off' ? 'off' : 'shadow',
    } as const
    const shared = pick(options, [...POLICY, ...SHARED, ...adapterOptions])
    this.rate = new RateGate<Req, Res>({ ...shared, ...counting, headers: 'none' }, adapterOptions, { routeScope })
  }

  /** Returns the gate for a part of the application. Options that `options` omits are inherited from this gate. */
  below(options: SlowDownOptions<Req, Res>, routeScope: string): SlowDownGate<Req, Res> {
    const all = withInherited(options, pick(this.options, [...SHARED, ...this.#adapterOptions]))
    return new SlowDownGate(all, this.#adapterOptions, scopeOfPart(this.options.scope, options, routeScope))
  }

  get report(): LimiterReport {
    return this.rate.report
  }

  /** Returns undefined if the request is not counted and therefore not delayed. */
  check(view: RequestView<Req>, moment?: Moment): MaybePromise<SlowCheck<Req, Res> | undefined> {
    return andThen(this.rate.check(view, moment), (check) => {
      if (!check) return undefined
      const chargedBeyond = this.#isBeyond(check.decision)
      if (chargedBeyond) this.#charge(check, 1)
      const delayMs = this.#delayMs(check.decision)
      const { controlled } = check.gate.limiter
      const shadow = controlled ? !controlled.isEnforced(this, this.mode) : this.mode === 'shadow'
      return { ...check, chargedBeyond, delayMs, shadow }
    })
  }

  /** The denial if too many requests already wait. The client may retry when its own delay would have ended. */
  denial(delayMs: number): HttpDenial {
    return httpDenial(this.#status, [this.name], delayMs)
  }

  /** Refunds a request that is denied because too many requests wait: a denial costs nothing. */
  refund(check: SlowCheck<Req, Res>): void {
    if (check.decision.verdicts[0]?.allowed || check.chargedBeyond) this.#charge(check, -1)
  }

  /** Whether a request found all units used and is charged anyway. */
  #isBeyond({ verdicts: [verdict] }: Decision): boolean {
    return this.#countsBeyond && verdict !== undefined && !verdict.allowed && verdict.remaining === 0
  }

  /** Charges `times` the cost of the request. Never throws or rejects. */
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

function zeroOrMoreUnits(after: unknown): number {
  const whole = Number.isInteger(after) && (after as number) >= 0 && (after as number) <= LARGEST_HEADER_INTEGER
  if (whole) return after as number
  throw new SluiceError(
    'SLUICE_BAD_LIMIT',
    `after: expected an integer from 0 to ${LARGEST_HEADER_INTEGER}, received ${shown(after, 'after')}`,
  )
}

function pick<T extends object>(options: T, names: readonly string[]): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name))) as Partial<T>
}
