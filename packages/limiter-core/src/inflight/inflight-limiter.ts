import { MalformedAnswer } from '../backend/backend-failure.ts'
import { andThen } from '../contracts/maybe-promise.ts'
import type {
  AcquireOptions,
  Cap,
  Clock,
  Denial,
  InflightBackend,
  MaybePromise,
  ObservedCap,
  Observer,
  Permit,
} from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf, shown } from '../errors/shown.ts'
import { Observers } from '../observers/observers.ts'
import { optionalBoolean, optionalWith, optionsOf } from '../options/options.ts'
import { DEFAULT_NAMES } from '../policy/default-names.ts'
import { headerText, wholeUnits } from '../policy/policy.ts'
import { clockOf } from '../time/clock.ts'
import { type Duration, parseTimerMs } from '../time/duration.ts'
import { claimCap } from './cap-claim.ts'
import { TOO_HEAVY } from './cap-denial.ts'
import { MemoryInflight } from './memory-inflight.ts'
import { WatchedPermit } from './watched-permit.ts'

export interface InflightLimiterOptions {
  /** Name in headers, denials and metrics. Default: `inflight`. */
  readonly name?: string | undefined
  /** Places for each key. */
  readonly limit: number
  /** Permits held longer are taken back, and their `lost` aborts: 1 ms to 2^31 - 1 ms. Default: no bound. */
  readonly maxHoldMs?: Duration | undefined
  /**
   * Where permits are stored. Default: this process. The backend receives this cap with each call, so that caps with
   * different names on one backend are counted separately. A backend with its own limit must have the same limit.
   */
  readonly backend?: InflightBackend | undefined
  /** Whether several caps with this name on one backend may share their places. Default: false. */
  readonly shared?: boolean | undefined
  readonly clock?: Clock | undefined
  readonly observers?: readonly Observer[] | undefined
}

/** Options with which every answer is at hand at once. */
export interface LocalInflightOptions extends InflightLimiterOptions {
  readonly backend?: undefined
}

/** Limits concurrent work. Every acquired permit must be released. */
export interface InflightLimiter<P extends MaybePromise<Permit | undefined> = MaybePromise<Permit | undefined>> {
  readonly name: string
  readonly limit: number
  /**
   * Returns a permit, or undefined if no place is free or the weight exceeds the limit. Without a key, all work
   * shares one count.
   */
  acquire(key?: string, options?: AcquireOptions): P
  /** Places held for the key. */
  count(key?: string): P extends Promise<unknown> ? Promise<number> : MaybePromise<number>
  /** Releases what this cap opened. A backend that was passed in stays open. */
  close(): MaybePromise<void>
}

/** An `InflightLimiter` that answers synchronously. */
export interface LocalInflightLimiter extends InflightLimiter<Permit | undefined> {
  count(key?: string): number
}

const OPTIONS = ['name', 'limit', 'maxHoldMs', 'backend', 'shared', 'clock', 'observers'] as const
const WHOLE_PROCESS = ''

/** Builds a cap. Throws coded errors for bad options. */
export function createInflightLimiter(options: LocalInflightOptions): LocalInflightLimiter
export function createInflightLimiter(options: InflightLimiterOptions): InflightLimiter
export function createInflightLimiter(options: InflightLimiterOptions): InflightLimiter {
  return new BackedInflightLimiter(optionsOf('createInflightLimiter', options, OPTIONS))
}

/** A cap over a backend, which is this process unless another is given. */
export class BackedInflightLimiter implements InflightLimiter {
  readonly name: string
  readonly limit: number
  readonly observers: Observers
  readonly #backend: InflightBackend
  readonly #clock: Clock
  /**
   * Whether this limiter created the backend. An own backend reports releases itself and is closed with the limiter.
   */
  readonly #isOwn: boolean
  readonly #cap: Cap
  /** To observers. */
  readonly #observed: ObservedCap
  readonly #unclaim: () => void

  /** `place` names the part of an application that is capped, where it is not the whole. */
  constructor(
    { name = DEFAULT_NAMES.inflightLimit, limit, maxHoldMs, backend, shared, clock, observers }: InflightLimiterOptions,
    place?: string | undefined,
  ) {
    this.name = headerText(name, 'name')
    this.limit = wholeUnits(limit, `cap '${this.name}': limit`)
    this.observers = new Observers(observers, () => [this.name])
    const time = clockOf(clock)
    optionalWith('backend', backend, ['acquire'], 'an in-flight backend')
    const heldMs = maxHoldMs === undefined ? undefined : parseTimerMs(maxHoldMs, `cap '${this.name}': maxHoldMs`)
    if (backend?.limit !== undefined && backend.limit !== limit) {
      throw new SluiceError(
        'SLUICE_BAD_LIMIT',
        `cap '${this.name}': limit: expected ${shown(backend.limit)}, which its backend has, received ${limit}`,
      )
    }
    const isShared = optionalBoolean('shared', shared)
    this.#clock = time
    this.#isOwn = backend === undefined
    this.#observed = { name: this.name, limit }
    this.#cap = { name: this.name, place, limit, maxHoldMs: heldMs }
    this.#unclaim = backend ? claimCap(backend, this.#cap, isShared) : () => {}
    this.#backend =
      backend ??
      new MemoryInflight({
        limit,
        clock: time,
        maxHoldMs: heldMs,
        released: (key, ms) => this.observers.permitReleased(key, ms, this.#observed),
      })
  }

  acquire(key: string = WHOLE_PROCESS, options?: AcquireOptions): MaybePromise<Permit | undefined> {
    if (typeof key !== 'string') {
      throw new SluiceError('SLUICE_BAD_KEY', `key: expected a string, received ${kindOf(key)}`)
    }
    if (options?.weight !== undefined && wholeUnits(options.weight, 'weight') > this.limit) {
      return this.#answered(key, TOO_HEAVY, options)
    }
    const answer = this.#backend.acquire(key, this.#isOwn ? options : { ...options, cap: this.#cap })
    return andThen(answer, (answered) => this.#answered(key, answered, options))
  }

  count(key: string = WHOLE_PROCESS): MaybePromise<number> {
    return this.#backend.count?.(key, this.#cap) ?? 0
  }

  close(): MaybePromise<void> {
    this.#unclaim()
    if (this.#isOwn) return this.#backend.close?.()
  }

  #answered(key: string, answer: Permit | Denial, options: AcquireOptions | undefined): Permit | undefined {
    if (isPermit(answer)) {
      if (!this.observers.any) return answer
      this.observers.permitAcquired(key, this.#observedCap(options))
      return this.#isOwn
        ? answer
        : new WatchedPermit(answer, this.#clock, (ms) => this.observers.permitReleased(key, ms, this.#observed))
    }
    if (answer?.allowed !== false) throw new MalformedAnswer('answer', answer, 'a permit or a denial')
    if (this.observers.any) this.observers.capDenied(key, this.#observedCap(options))
    return undefined
  }

  #observedCap(options: AcquireOptions | undefined): ObservedCap {
    return options?.request ? { ...this.#observed, request: options.request } : this.#observed
  }
}

/** A custom backend may return an invalid answer. */
function isPermit(answer: Permit | Denial): answer is Permit {
  return typeof (answer as Permit | undefined | null)?.release === 'function'
}
