import { type Clock, createLimiter, type Decision, type Limiter } from '@sluice/limiter-core'
import { processMemory } from '@sluice/limiter-core/backend'
import { KnownClients } from './known-clients.ts'
import { COHORTS } from './levels.ts'

/** Service time of so long counts as recent. */
const WINDOW_MS = 10_000
const SLICES = 10
/** How fast the largest usage is forgotten. */
const [DECAY, DECAY_MS] = [0.97, 100]
const MEMORY_BYTES = 1 << 20
/** More milliseconds than a client can use in a window. */
const LARGEST = 1e9
const POLICY = {
  name: 'usage',
  limit: LARGEST,
  window: WINDOW_MS,
  algorithm: 'sliding-window',
  slices: SLICES,
} as const
/** The account of all clients with new names. */
const NEW = '\nnew'
/** Standard deviations by which the usage of equal clients is below the largest by chance, and its largest part. */
const [BY_CHANCE, MOST_BY_CHANCE] = [3, 0.75]
/** Weight of one piece of work in the mean duration. */
const SMOOTHING = 0.05

/**
 * Recent service time of each client, in at most 1 MiB: the table of a policy that never denies. A flood of clients
 * cannot displace those with the most usage, and those that are not known are one client. Work counts with the mean
 * duration when it begins, and with the rest when it has ended.
 */
export class ClientUsage {
  readonly #clock: Clock
  /** Opened for the first client, because most caps do not have clients. */
  #opened: Limiter<Decision> | undefined
  readonly #known: KnownClients
  #meanMs = 0
  #largest = 0
  #decayAt: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#known = new KnownClients(clock.now())
    this.#decayAt = clock.now() + DECAY_MS
  }

  /** Records a client that asks while there is no overload. */
  asked(client: string): void {
    if (!this.#known.has(client)) this.#known.add(client, this.#clock.now())
  }

  /** Returns 0 for the client with the most recent usage, up to `COHORTS` - 1 for one without any. */
  cohortOf(client: string): number {
    const now = this.#clock.now()
    if (now >= this.#decayAt) {
      this.#largest *= DECAY ** (1 + (now - this.#decayAt) / DECAY_MS)
      this.#decayAt = now + DECAY_MS
    } else if (now < this.#decayAt - DECAY_MS) this.#decayAt = now + DECAY_MS
    const account = this.#known.has(client) ? client : NEW
    const usedMs = LARGEST - this.#used.peek(account).verdicts[0].remaining
    if (usedMs > this.#largest) this.#largest = usedMs
    if (this.#largest === 0) return COHORTS - 1
    // the number of works of a client varies by its root
    const byChance = Math.min(MOST_BY_CHANCE, BY_CHANCE * Math.sqrt(this.#meanMs / this.#largest))
    return Math.round(Math.max(0, 1 - usedMs / this.#largest - byChance) * (COHORTS - 1))
  }

  /** Records that work of a client has begun. Returns the account that it counts for. */
  began(client: string): string {
    const account = this.#known.addIfFew(client, this.#clock.now()) ? client : NEW
    this.#add(account, this.#meanMs)
    return account
  }

  /** Records that work has ended. `account`: the result of `began`. */
  ended(account: string, heldMs: number): void {
    // a clock that was set back does not show how long the work took
    if (!(heldMs >= 0)) return
    const usedMs = Math.min(heldMs, LARGEST)
    this.#add(account, usedMs - this.#meanMs)
    this.#meanMs += (usedMs - this.#meanMs) * SMOOTHING
  }

  close(): void {
    this.#opened?.close()
    this.#opened = undefined
  }

  get #used(): Limiter<Decision> {
    if (this.#opened) return this.#opened
    const clock = this.#clock
    const backend = processMemory({ maxBytes: MEMORY_BYTES, clock })
    this.#opened = createLimiter({ ...POLICY, backend, clock, observers: [] })
    return this.#opened
  }

  #add(account: string, ms: number): void {
    const whole = Math.round(ms)
    if (whole > 0) this.#used.take(account, whole)
  }
}
