import {
  type Answer,
  type Backend,
  type Clock,
  createLimiter,
  type Decision,
  type Limiter,
  memoryBackend,
  type Policy,
} from '@sluice/limiter-core'

const COUNTS_BYTES = 2 ** 30
/** Slices of a window that is measured exactly enough: it is at most a tenth too long, never too short. */
const SLICES = 10
/** Products of units and milliseconds below this are exact. */
const EXACT = 2 ** 50
const LARGEST = 1e9

/**
 * Measures how many units a key uses in a window, whatever its limit: by a limiter with a limit above all usage.
 *
 * Windows are counted by the algorithm of the policy, so that the largest measured number is the smallest limit that
 * would never have denied the key. Logs and buckets have no room for such a limit: their windows are counted in slices.
 */
export class WindowDemand {
  readonly #limiter: Limiter<Decision>
  readonly #limit: number
  readonly #clock: Clock

  constructor(policy: Policy, backend: Backend<Answer>, clock: Clock) {
    const isWindow = policy.algorithm === 'fixed-window' || policy.algorithm === 'sliding-window'
    const slices = isWindow ? policy.slices : SLICES
    this.#clock = clock
    this.#limit = Math.min(LARGEST, Math.floor(EXACT / policy.windowMs))
    this.#limiter = createLimiter({
      name: policy.name,
      limit: this.#limit,
      window: `${policy.windowMs}ms`,
      algorithm: isWindow ? policy.algorithm : 'sliding-window',
      ...(slices && { slices }),
      backend,
      clock,
    })
  }

  /** Adds the units of a request. Returns the units of its key in the window that ends now. */
  use(key: string, cost: number): number {
    const decision = this.#limiter.take(key, cost, { now: this.#clock.now() })
    const used = this.#limit - decision.binding.remaining
    return decision.allowed ? used : used + cost
  }
}

/** Returns a backend for the windows of all policies. */
export function demandBackend(clock: Clock): Backend<Answer> {
  return memoryBackend({ maxBytes: COUNTS_BYTES, clock })
}

/** Whether the windows of a policy are measured in slices: up to a tenth too long. */
export function isMeasuredInSlices({ algorithm }: Policy): boolean {
  return algorithm !== 'fixed-window' && algorithm !== 'sliding-window'
}
