import { MalformedAnswer } from '../backend/backend-failure.ts'
import { andThen } from '../contracts/maybe-promise.ts'
import type {
  AcquireOptions,
  AdaptiveLimit,
  Cap,
  CapControls,
  CapHandle,
  Clock,
  Denial,
  DenialReason,
  InflightBackend,
  LearnedLimits,
  MaybePromise,
  ObservedCap,
  Observer,
  Permit,
} from '../contracts.ts'
import { badOption, badValue } from '../errors/bad-option.ts'
import { shown } from '../errors/shown.ts'
import { claimName } from '../names/name-claims.ts'
import { Observers } from '../observers/observers.ts'
import { optionalBoolean, optionalWith, optionsOf } from '../options/options.ts'
import { DEFAULT_NAMES } from '../policy/default-names.ts'
import { checkedUnits, headerText } from '../policy/policy.ts'
import { clockOf } from '../time/clock.ts'
import { type Duration, parseTimerMs } from '../time/duration.ts'
import { FULL, UNCOUNTED_PERMIT, WEIGHT_EXCEEDS_LIMIT } from './cap-answers.ts'
import { ControlledCap } from './controlled-cap.ts'
import { MemoryInflight } from './memory-inflight.ts'
import { WatchedPermit } from './watched-permit.ts'

export interface InflightLimiterOptions {
  /** Name in headers, denials and metrics: 1 to 128 printable ASCII characters. Default: `inflight`. */
  readonly name?: string | undefined
  /** Places per key at the same time: an integer of at least 1, or a limit from `adaptive` of `@sluice/overload`. */
  readonly limit: number | AdaptiveLimit
  /** Time after which a permit is revoked and its `lost` signal aborted, from 1 ms to 2^31 - 1 ms. Default: never. */
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
  /** Places per key that apply now in this process: as configured, learned, or as operators have set them. */
  readonly limit: number
  /** Returns the places of a key that apply now, which differ from `limit` if they are learned for each key. */
  limitOf(key?: string): number
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
type SharingBackend = InflightBackend & Required<Pick<InflightBackend, 'share'>>
const LEARNING = 'one in this process, or one that shares learned limits, such as redisInflight'

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
  /** The limits of the keys, if they are learned; the limit of `#cap` is then the largest. */
  readonly learned: LearnedLimits | undefined
  readonly #unclaim: () => void
  readonly #handle: CapHandle
  #controls: ReadonlyMap<object, CapControls> = new Map()

  /**
   * `place` names the part of the application that the cap applies to. Default: the whole application. `local` stores
   * the permits if the backend only shares a learned limit.
   */
  constructor(
    { name = DEFAULT_NAMES.inflightLimit, limit, maxHoldMs, backend, shared, clock, observers }: InflightLimiterOptions,
    place?: string | undefined,
    local?: InflightBackend | undefined,
  ) {
    this.name = headerText(name, 'name')
    const owner = `cap '${this.name}'`
    const adaptive = isAdaptive(limit) ? limit : undefined
    const most = adaptive ? adaptive.max : checkedUnits(limit, `${owner}: limit`)
    const sharing = adaptive && sharingOf(`${owner}: backend`, backend)
    this.observers = new Observers(observers, () => [this.name])
    const time = clockOf(clock)
    optionalWith('backend', backend, ['acquire'], 'an in-flight backend')
    const heldMs = maxHoldMs === undefined ? undefined : parseTimerMs(maxHoldMs, `${owner}: maxHoldMs`)
    if (backend?.limit !== undefined && backend.limit !== most) {
      const expected = `${shown(backend.limit)}, the limit of its backend`
      throw badValue('SLUICE_BAD_LIMIT', `${owner}: limit`, most, expected)
    }
    const isShared = optionalBoolean('shared', shared)
    this.#clock = time
    const stores = sharing ? local : backend
    this.#isOwn = stores === undefined
    this.learned = adaptive?.open(
      time,
      heldMs,
      sharing && ((key, keyShared) => sharing.share(key, this.#cap, keyShared, () => this.#grown(key))),
    )
    const maxWeight = sharing && most
    const limitOf: Cap['limitOf'] = (key) => this.limitOf(key)
    this.#cap = { name: this.name, place, limit: most, limitOf, maxWeight, maxHoldMs: heldMs }
    const id = JSON.stringify([place, this.name])
    const claim = { name: this.name, owner, remedy: 'a name', id, data: JSON.stringify(this.#cap), limiter: {} }
    this.#unclaim = backend ? claimName(backend, { ...claim, shared: isShared }) : () => {}
    this.#backend =
      stores ??
      new MemoryInflight({
        limit: most,
        clock: time,
        maxHoldMs: heldMs,
        released: (key, ms) => this.#released(key, ms),
      })
    this.#handle = {
      name: this.name,
      limit: this.limit,
      isLocal: this.#backend.isLocal === true,
      objective: adaptive?.objective,
      waiting: () => this.#backend.waiting?.(this.#cap) ?? 0,
      control: (controls, owner = this) => this.#control(controls, owner),
    }
    this.observers.capOpened(this.#handle)
  }

  get limit(): number {
    return this.limitOf()
  }

  /** Largest weight that may ever fit. */
  get maxWeight(): number {
    return this.controlled?.cap.limit ?? this.#cap.limit
  }

  limitOf(key: string = WHOLE_PROCESS, request?: AcquireOptions): number {
    const limit = this.controlled?.limit
    if (limit !== undefined && !this.learned?.isShared) return limit
    return Math.min(limit ?? this.#cap.limit, this.learned?.limitOf(key, request) ?? this.#cap.limit)
  }

  acquire(key: string = WHOLE_PROCESS, options?: AcquireOptions): MaybePromise<Permit | undefined> {
    if (typeof key !== 'string') throw badValue('SLUICE_BAD_KEY', 'key', key, 'a string')
    const weight = options?.weight === undefined ? 1 : checkedUnits(options.weight, 'weight')
    if (this.controlled?.mode === 'off') return UNCOUNTED_PERMIT
    const opening = this.learned?.opening?.(key)
    return opening ? opening.then(() => this.#acquire(key, weight, options)) : this.#acquire(key, weight, options)
  }

  #acquire(key: string, weight: number, options?: AcquireOptions): MaybePromise<Permit | undefined> {
    const answer = this.#denialOf(key, weight, options) ?? this.#backend.acquire(key, this.#requested(key, options))
    if (answer !== WEIGHT_EXCEEDS_LIMIT && !isPermit(answer as Permit)) this.learned?.lacked?.(key, weight)
    return andThen(answer, (answered) => this.#answered(key, answered, options) ?? this.#ifDenied)
  }

  count(key: string = WHOLE_PROCESS): MaybePromise<number> {
    return this.#backend.count?.(key, this.controlled?.cap ?? this.#cap) ?? 0
  }

  close(): MaybePromise<void> {
    this.observers.capClosed(this.#handle)
    this.#unclaim()
    this.learned?.close?.()
    if (this.#isOwn) return this.#backend.close?.()
  }

  /** Result of a denial. An operator may have changed the mode while the work waited. */
  get #ifDenied(): Permit | undefined {
    const mode = this.controlled?.mode
    return mode === 'shadow' || mode === 'off' ? UNCOUNTED_PERMIT : undefined
  }

  #control(controls: CapControls | undefined, owner: object): void {
    const byOwner = new Map(this.#controls)
    if (controls) byOwner.set(owner, controls)
    else byOwner.delete(owner)
    const all = [...byOwner.values()]
    this.controlled = all[0] && new ControlledCap(this.#cap, all, this.#backend.limit !== undefined)
    this.#controls = byOwner
    this.#backend.admitWaiting?.(this.#cap)
  }

  #denialOf(key: string, weight: number, options: AcquireOptions | undefined): Denial | undefined {
    const denial = this.controlled?.denialOf(key, weight)
    if (denial) return denial
    if (!this.controlled && weight > this.#cap.limit) return WEIGHT_EXCEEDS_LIMIT
    if (!this.learned || (this.#cap.maxWeight && !this.#isOwn)) return undefined
    return weight > this.limitOf(key, options) ? FULL : undefined
  }

  #requested(key: string, options: AcquireOptions | undefined): AcquireOptions | undefined {
    if (this.#isOwn && !this.controlled && !this.learned) return options
    const limit = this.limitOf(key, options)
    const isApart = !this.controlled && this.learned?.isApart?.(key, options)
    const cap = limit === this.#cap.limit ? this.#cap : { ...this.#cap, limit }
    // nothing is denied in shadow mode, so nothing waits
    const mayWait = this.controlled?.mode === 'shadow' ? false : options?.mayWait
    // a literal, because a spread takes as long as the rest of a call
    const { weight, signal, priority, client, workClass, request } = options ?? {}
    return { weight, signal, priority, client, workClass, isApart, mayWait, request, cap }
  }

  #answered(key: string, answer: Permit | Denial, options: AcquireOptions | undefined): Permit | undefined {
    const { any } = this.observers
    if (isPermit(answer)) {
      if (any) this.observers.permitAcquired(key, this.#observedCap(key, options))
      return this.learned || (any && !this.#isOwn) ? this.#watched(key, answer, options) : answer
    }
    if (answer?.allowed !== false) throw new MalformedAnswer('answer', answer, 'a permit or a denial')
    if (any) this.#reportDenial(key, answer, options)
    return undefined
  }

  #reportDenial(key: string, { reason, retryAfterMs }: Denial, options: AcquireOptions | undefined): void {
    const known = reason ?? (retryAfterMs === Number.POSITIVE_INFINITY ? 'weight' : 'full')
    if (options?.signal?.aborted) this.observers.capLeft(key, this.#observedCap(key, options))
    else this.observers.capDenied(key, this.#observedCap(key, options, known))
  }

  #watched(key: string, permit: Permit, options: AcquireOptions | undefined): Permit {
    const learn = this.learned?.begin(key, options)
    return new WatchedPermit(permit, this.#clock, (heldMs, outcome) => {
      if (learn) {
        const before = this.limitOf(key)
        learn(outcome)
        if (this.limitOf(key) > before) this.#grown(key)
      }
      if (!this.#isOwn) this.#released(key, heldMs)
    })
  }

  #grown(key: string): void {
    this.#backend.admitWaiting?.(this.#cap, key)
  }

  #released(key: string, heldMs: number): void {
    if (this.observers.any) this.observers.permitReleased(key, heldMs, this.#observedCap(key))
  }

  #observedCap(key: string, { request, priority }: AcquireOptions = {}, reason?: DenialReason): ObservedCap {
    return { name: this.name, limit: this.limitOf(key), request, priority, reason }
  }
}

/** Returns the backend of an adaptive limit, unless its permits are stored in this process. */
function sharingOf(owner: string, backend?: InflightBackend): SharingBackend | undefined {
  if (!backend || backend.isLocal) return undefined
  if (backend.share) return backend as SharingBackend
  throw badOption(owner, backend, LEARNING)
}

/** A custom backend may return an invalid answer. */
function isPermit(answer: Permit | Denial): answer is Permit {
  return typeof (answer as Permit | undefined | null)?.release === 'function'
}

export function isAdaptive(limit: unknown): limit is AdaptiveLimit {
  try {
    return typeof (limit as AdaptiveLimit | undefined)?.open === 'function'
  } catch {
    return false
  }
}
