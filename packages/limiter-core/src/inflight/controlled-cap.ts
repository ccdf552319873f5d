import type { Cap, CapControls, Denial } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { clientKeyOf } from '../keys/preflight.ts'
import { mostPermissive } from '../policy/mode.ts'
import { checkedUnits } from '../policy/policy.ts'
import { FULL, WEIGHT_EXCEEDS_LIMIT } from './cap-answers.ts'

/** A cap under the controls of one or more operators. */
export class ControlledCap {
  /** The cap with the limit that applies now. */
  readonly cap: Cap
  /** Undefined if the controls do not set it. */
  readonly limit: number | undefined
  /** Undefined if the controls do not set it. */
  readonly mode: CapControls['mode']
  readonly #configured: Cap
  readonly #controls: readonly CapControls[]

  /** Throws `SLUICE_BAD_LIMIT` for an invalid limit, or if `hasFixedLimit` and a limit is set. */
  constructor(configured: Cap, controls: readonly CapControls[], hasFixedLimit: boolean) {
    const limits = controls.flatMap(({ limit }) => limit ?? [])
    for (const limit of limits) checkedUnits(limit, `cap '${configured.name}': limit`)
    if (hasFixedLimit && limits.length > 0) {
      const message = 'limit: expected a backend without a limit of its own, which cannot be changed'
      throw new SluiceError('SLUICE_BAD_LIMIT', `cap '${configured.name}': ${message}`)
    }
    this.limit = limits.length > 0 ? Math.min(...limits) : undefined
    this.cap = this.limit === undefined ? configured : { ...configured, limit: this.limit }
    this.mode = mostPermissive(controls.map(({ mode }) => mode))
    this.#configured = configured
    this.#controls = controls
  }

  /** Returns the denial of a key that is blocked, or of a weight that does not fit; undefined otherwise. */
  denialOf(key: string, weight: number): Denial | undefined {
    if (weight > Math.max(this.#configured.limit, this.cap.limit)) return WEIGHT_EXCEEDS_LIMIT
    const blockedMs = Math.max(...this.#controls.map((one) => one.blockedMs(clientKeyOf(key))))
    if (blockedMs > 0) return { allowed: false, retryAfterMs: Math.ceil(blockedMs), reason: 'blocked' }
    // it fits again when the control ends
    return weight > this.cap.limit ? FULL : undefined
  }
}
