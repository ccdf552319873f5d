import type { Clock } from '@sluice/limiter-core'

const IDLE = 0.1
const LOW = 0.5
const NORMAL = 0.8
const MAX_FLOOR = 10

export interface PublishedOptions {
  readonly clock: Pick<Clock, 'now' | 'wall'>
  readonly store: PublishedStore
  /** Units of a window; default: 1,000,000. */
  readonly threshold?: number | undefined
  /** Default: 60. */
  readonly windowSeconds?: number | undefined
  /** Default: 15. */
  readonly syncSeconds?: number | undefined
}

interface Entry {
  estimate: number
  /** Undefined until it was read once. */
  syncedAt: number | undefined
  pending: number
  /** As of the last read, as a fraction of the threshold. */
  pressure: number
}

/** Result of `check`. The level includes the units of the check itself. */
export interface PublishedAnswer {
  readonly limited: boolean
  readonly level: number
}

/** The epoch that holds an instant, in whole seconds. */
export function epochOf(unixSeconds: number, windowSeconds: number): number {
  return Math.floor(unixSeconds / windowSeconds)
}

/** Estimates a sliding window from two epochs: the older one counts by its remaining fraction. */
export function weightedCount(previous: number, current: number, unixSeconds: number, windowSeconds: number): number {
  const progress = (unixSeconds % windowSeconds) / windowSeconds
  return previous * (1 - progress) + current
}

/** Returns an evenly leaking estimate, plus pending units that do not leak. */
export function effectiveLevel(estimate: number, elapsedMs: number, pending: number, leakPerSecond: number): number {
  return Math.max(0, estimate - (leakPerSecond * elapsedMs) / 1_000) + pending
}

export function tierOf(pressure: number): 'idle' | 'low' | 'normal' | 'hot' {
  if (pressure < IDLE) return 'idle'
  if (pressure < LOW) return 'low'
  return pressure < NORMAL ? 'normal' : 'hot'
}

/** Returns how long an estimate is valid in ms; undefined for an idle key. */
export function syncIntervalMs(pressure: number, syncSeconds: number): number | undefined {
  const parts = { idle: undefined, low: 4, normal: 1, hot: 0.5 }
  const part = parts[tierOf(pressure)]
  return part === undefined ? undefined : part * syncSeconds * 1_000
}

/** Counts by key and epoch, which all processes share. */
export class PublishedStore {
  readonly #counts = new Map<string, number>()

  add(key: string, epoch: number, units: number): void {
    this.#counts.set(`${key}:${epoch}`, this.count(key, epoch) + units)
  }

  count(key: string, epoch: number): number {
    return this.#counts.get(`${key}:${epoch}`) ?? 0
  }
}

/**
 * The global rate limiter that PostHog published in 2026, as a model for comparison, in its later form: two epochs, a
 * leaking estimate, local units that never leak, denied units counted. `tick` represents its background loop.
 */
export class PublishedLimiter {
  readonly #options: { readonly [Name in keyof PublishedOptions]-?: NonNullable<PublishedOptions[Name]> }
  readonly #entries = new Map<string, Entry>()
  readonly #unwritten = new Map<string, { readonly key: string; readonly epoch: number; units: number }>()
  readonly #toRead = new Set<string>()

  constructor({ clock, store, threshold = 1_000_000, windowSeconds = 60, syncSeconds = 15 }: PublishedOptions) {
    this.#options = { clock, store, threshold, windowSeconds, syncSeconds }
  }

  /** Keys that the next tick reads. */
  get toRead(): ReadonlySet<string> {
    return this.#toRead
  }

  /** Units that this process counted of a key since it was read. */
  pendingOf(key: string): number {
    return this.#entries.get(key)?.pending ?? 0
  }

  check(key: string, units = 1): PublishedAnswer {
    this.#enqueue(key, units)
    const entry = this.#entries.get(key)
    if (!entry) {
      this.#entries.set(key, { estimate: 0, syncedAt: undefined, pending: units, pressure: 0 })
      if (units >= this.#floor) this.#toRead.add(key)
      return { limited: false, level: units }
    }
    if (this.#isDue(entry)) this.#toRead.add(key)
    entry.pending += units
    const level = this.#levelOf(entry)
    return { limited: level >= this.#options.threshold, level }
  }

  /** Writes counts, then reads due keys. */
  tick(): void {
    const { store, clock, threshold, windowSeconds } = this.#options
    for (const { key, epoch, units } of this.#unwritten.values()) store.add(key, epoch, units)
    this.#unwritten.clear()
    const seconds = this.#unixSeconds
    const epoch = epochOf(seconds, windowSeconds)
    for (const key of this.#toRead) {
      const [previous, current] = [store.count(key, epoch - 1), store.count(key, epoch)]
      const estimate = weightedCount(previous, current, seconds, windowSeconds)
      this.#entries.set(key, { estimate, syncedAt: clock.now(), pending: 0, pressure: estimate / threshold })
    }
    this.#toRead.clear()
  }

  get #unixSeconds(): number {
    return Math.floor(this.#options.clock.wall() / 1_000)
  }

  /** Units below which a key is not read. */
  get #floor(): number {
    return Math.min(MAX_FLOOR, Math.max(1, this.#options.threshold / 100))
  }

  #enqueue(key: string, units: number): void {
    const epoch = epochOf(this.#unixSeconds, this.#options.windowSeconds)
    const name = `${key}:${epoch}`
    const entry = this.#unwritten.get(name)
    if (entry) entry.units += units
    else this.#unwritten.set(name, { key, epoch, units })
  }

  #levelOf({ estimate, syncedAt, pending }: Entry): number {
    const { clock, threshold, windowSeconds } = this.#options
    if (syncedAt === undefined) return pending
    return effectiveLevel(estimate, clock.now() - syncedAt, pending, threshold / windowSeconds)
  }

  #isDue(entry: Entry): boolean {
    const { clock, threshold, syncSeconds } = this.#options
    const level = this.#levelOf(entry)
    if (entry.syncedAt === undefined) return level >= this.#floor
    const pressure = Math.max(level / threshold, entry.pressure)
    const idleMs = level >= this.#floor ? 4 * syncSeconds * 1_000 : Number.POSITIVE_INFINITY
    return clock.now() - entry.syncedAt > (syncIntervalMs(pressure, syncSeconds) ?? idleMs)
  }
}
