import { MalformedAnswer } from '../backend/backend-failure.ts'
import { andThen } from '../contracts/maybe-promise.ts'
import type {
  AcquireOptions,
  Cap,
  CapControls,
  CapHandle,
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
import { checkedUnits, headerText } from '../policy/policy.ts'
import { clockOf } from '../time/clock.ts'
import { type Duration, parseTimerMs } from '../time/duration.ts'
import { claimCap } from './cap-claim.ts'
import { WEIGHT_EXCEEDS_LIMIT } from './cap-denial.ts'
import { ControlledCap } from './controlled-cap.ts'
import { MemoryInflight } from './memory-inflight.ts'
import { UNCOUNTED_PERMIT } from './uncounted-permit.ts'
import { WatchedPermit } from './watched-permit.ts'

export interface InflightLimiterOptions {
  /** Name in headers, denials and metrics: 1 to 128 printable ASCII characters. Default: `inflight`. */
  readonly name?: string | undefined
  /** Maximum number of places that are held per key at the same time, an integer of at least 1. */
  readonly limit: number
  /**
   * Time after which a permit is revoked and its `lost` signal is aborted, from 1 ms to 2^31 - 1 ms. Default: permits
   * are never revoked.
   */
  readonly maxHoldMs?: Duration | undefined
  /**
   * Backend that stores the permits. Default: the memory of this process. Caps with different names on one backend are
   * counted separately. If the backend has its own limit, `limit` must be the same.
   */
  readonly backend?: InflightBackend | undefined
  /** Whether several caps with this name on one backend may share their places. Default: false. */
  readonly shared?: boolean | undefined
  readonly clock?: Clock | undefined
  readonly observers?: readonly Observer[] | undefined
}

/** Options of a cap that stores its permits in this process, so that `acquire` is synchronous. */
export interface LocalInflightOptions extends InflightLimiterOptions {
  readonly backend?: undefined
}

/** Limits concurrent work per key. Every acquired permit must be released. */
export interface InflightLimiter<P extends MaybePromise<Permit | undefined> = MaybePromise<Permit | undefined>> {
  readonly name: string
  /** Places per key that apply now: as configured, or as operators have set them. */
  readonly limit: number
  /**
   * Returns a permit, or undefined if no place is free or the weight exceeds the limit. Default key: one key for the
   * whole process. Throws `SLUICE_BAD_KEY` or `SLUICE_BAD_LIMIT` (weight).
   */
  acquire(key?: string, options?: AcquireOptions): P
  /** Returns the number of places that are held for the key; 0 if the backend does not support counting. */
  count(key?: string): P extends Promise<unknown> ? Promise<number> : MaybePromise<number>
  /** Stops the timers of this cap and frees its name. A backend that was passed in stays open. */
  close(): MaybePromise<void>
}

/** An `InflightLimiter` whose permits are stored in this process; all methods are synchronous. */
export interface LocalInflightLimiter extends InflightLimiter<Permit | undefined> {
  count(key?: string): number
}

const OPTIONS = ['name', 'limit', 'maxHoldMs', 'backend', 'shared', 'clock', 'observers'] as const
const WHOLE_PROCESS = ''

/** Creates a cap on concurrent work. Throws a `SluiceError` for invalid options. */
export function createInflightLimiter(options: LocalInflightOptions): LocalInflightLimiter
export function createInflightLimiter(options: InflightLimiterOptions): InflightLimiter
export function createInflightLimiter(options: InflightLimiterOptions): InflightLimiter {
  return new BackedInflightLimiter(optionsOf('createInflightLimiter', options, OPTIONS))
}

/** A cap that stores its permits in a backend, by default in this process. */
export class BackedInflightLimiter implements InflightLimiter {
  readonly name: string
  readonly observers: Observers
  /** The controls of operators; undefined if there are none. */
  controlled: ControlledCap | undefined
  readonly #backend: InflightBackend
  readonly #clock: Clock
  /** Whether this cap created its backend, which then reports releases itself and is closed with the cap. */
  readonly #isOwn: boolean
  readonly #cap: Cap
  #observed: ObservedCap
  readonly #unclaim: () => void
  readonly #handle: CapHandle
  #controls: ReadonlyMap<object, CapControls> = new Map()

  /** `place` names the part of the application that the cap applies to. Default: the whole application. */
  constructor(
    { name = DEFAULT_NAMES.inflightLimit, limit, maxHoldMs, backend, shared, clock, observers }: InflightLimiterOptions,
    place?: string | undefined,
  ) {
    this.name = headerText(name, 'name')
    checkedUnits(limit, `cap '${this.name}': limit`)
    this.observers = new Observers(observers, () => [this.name])
    const time = clockOf(clock)
    optionalWith('backend', backend, ['acquire'], 'an in-flight backend')
    const heldMs = maxHoldMs === undefined ? undefined : parseTimerMs(maxHoldMs, `cap '${this.name}': maxHoldMs`)
    if (backend?.limit !== undefined && backend.limit !== limit) {
      throw new SluiceError(
        'SLUICE_BAD_LIMIT',
        `cap '${this.name}': limit: expected ${shown(backend.limit)}, the limit of its backend, received ${limit}`,
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
    this.#handle = { name: this.name, limit, control: (controls, owner = this) => this.#control(controls, owner) }
    this.observers.capOpened(this.#handle)
  }

  get limit(): number {
    return this.controlled?.cap.limit ?? this.#cap.limit
  }

  acquire(key: string = WHOLE_PROCESS, options?: AcquireOptions): MaybePromise<Permit | undefined> {
    if (typeof key !== 'string') {
      throw new SluiceError('SLUICE_BAD_KEY', `key: expected a string, received ${kindOf(key)}`)
    }
    if (this.controlled) return this.#acquireControlled(this.controlled, key, options)
    if (options?.weight !== undefined && checkedUnits(options.weight, 'weight') > this.limit) {
      return this.#answered(key, WEIGHT_EXCEEDS_LIMIT, options)
    }
    const answer = this.#backend.acquire(key, this.#isOwn ? options : { ...options, cap: this.#cap })
    return andThen(answer, (answered) => this.#answered(key, answered, options))
  }

  count(key: string = WHOLE_PROCESS): MaybePromise<number> {
    return this.#backend.count?.(key, this.controlled?.cap ?? this.#cap) ?? 0
  }

  close(): MaybePromise<void> {
    this.observers.capClosed(this.#handle)
    this.#unclaim()
    if (this.#isOwn) return this.#backend.close?.()
  }

  #control(controls: CapControls | undefined, owner: object): void {
    const byOwner = new Map(this.#controls)
    if (controls) byOwner.set(owner, controls)
    else byOwner.delete(owner)
    const all = [...byOwner.values()]
    this.controlled = all[0] && new ControlledCap(this.#cap, all, this.#backend.limit !== undefined)
    this.#controls = byOwner
    this.#observed = { name: this.name, limit: this.limit }
  }

  #acquireControlled(
    controlled: ControlledCap,
    key: string,
    options: AcquireOptions | undefined,
  ): MaybePromise<Permit | undefined> {
    const { cap, mode } = controlled
    if (mode === 'off') return UNCOUNTED_PERMIT
    const weight = options?.weight === undefined ? 1 : checkedUnits(options.weight, 'weight')
    const answer = controlled.denialOf(key, weight) ?? this.#backend.acquire(key, { ...options, cap })
    const ifDenied = mode === 'shadow' ? UNCOUNTED_PERMIT : undefined
    return andThen(answer, (answered) => this.#answered(key, answered, options) ?? ifDenied)
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
