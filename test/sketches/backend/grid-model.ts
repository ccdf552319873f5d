import type { Charge, CountedKey, Policy, PolicyVerdict } from '@sluice/limiter-core'

/** Units of one key by slot number. */
type Slots = Map<number, number>

/**
 * A slow model of what `sketchBackend` answers if no two keys collide: every key is counted exactly, in slots that
 * begin for all keys with the first count. It shares no code with the backend. Times are multiples of half a ms.
 */
export class GridModel {
  readonly #windowMs: number
  readonly #slots: number
  #origin: number | undefined
  readonly #keys = new Map<string, Slots>()

  constructor(windowMs: number, slots: number) {
    this.#windowMs = windowMs
    this.#slots = slots
  }

  take(charges: readonly Charge[], now: number): PolicyVerdict[] {
    if (charges.some(({ cost }) => cost > 0)) this.#origin ??= now
    const asked = this.peek(charges, now)
    if (asked.some(({ allowed, shadow }) => !allowed && !shadow)) return asked
    const allFit = asked.every(({ allowed }) => allowed)
    return charges.map((charge, index) => {
      if (charge.advisory && !allFit) return asked[index]
      this.count(charge, now, charge.cost)
      return this.#verdict({ ...charge, cost: 0 }, now)
    })
  }

  peek(charges: readonly Charge[], now: number): PolicyVerdict[] {
    return charges.map((charge) => this.#verdict(charge, now))
  }

  adjust(charges: readonly Charge[], takenAt: number, now: number): PolicyVerdict[] {
    return charges.map((charge) => {
      if (charge.cost > 0) this.#origin ??= now
      const age = this.#slotAt(now) - this.#slotAt(Math.min(takenAt, now))
      const { algorithm } = charge.counter.compiled.policy
      const last = algorithm === 'fixed-window' ? this.#slotAt(now) % this.#slots : this.#slots
      if (this.#origin !== undefined && age <= last) this.count(charge, Math.min(takenAt, now), charge.cost)
      return this.#verdict({ ...charge, cost: 0 }, now)
    })
  }

  /** Counts units without checking the limit. */
  count({ key, counter }: CountedKey, at: number, units: number): void {
    if (units <= 0 && this.#origin === undefined) return
    this.#origin ??= at
    const slots = this.#slotsOf(key, counter.name)
    const slot = this.#slotAt(at)
    slots.set(slot, Math.max(0, (slots.get(slot) ?? 0) + units))
  }

  forget({ key, counter }: CountedKey): void {
    this.#slotsOf(key, counter.name).clear()
  }

  #slotsOf(key: string, counterName: string): Slots {
    const name = JSON.stringify([counterName, key])
    const slots = this.#keys.get(name) ?? new Map()
    this.#keys.set(name, slots)
    return slots
  }

  #slotAt(at: number): number {
    return Math.floor(((at - (this.#origin ?? at)) * this.#slots) / this.#windowMs)
  }

  #verdict({ key, counter, cost, advisory }: Charge, now: number): PolicyVerdict {
    const { policy } = counter.compiled
    const slots = this.#slotsOf(key, counter.name)
    const fits = (afterMs: number, units: number): boolean => this.#fits(slots, policy, now + afterMs, units)
    const retryAfterMs =
      cost === 0 ? 0 : cost > policy.limit ? Number.POSITIVE_INFINITY : firstTrue((ms) => fits(ms, cost))
    // one more than the largest cost that fits
    const remaining = fits(0, policy.limit) ? policy.limit : Math.max(0, firstTrue((units) => !fits(0, units)) - 1)
    return {
      policy,
      shadow: advisory === true,
      allowed: retryAfterMs === 0,
      remaining,
      retryAfterMs,
      resetAfterMs: this.#resetAfterMs(slots, policy, now),
      availableAfterMs: remaining === policy.limit ? 0 : firstTrue((ms) => fits(ms, remaining + 1)),
    }
  }

  // both sides multiplied by the window, so that all numbers are integers
  #fits(slots: Slots, policy: Policy, at: number, cost: number): boolean {
    const running = this.#slotAt(at)
    const elapsed = (at - (this.#origin ?? at)) * this.#slots - running * this.#windowMs
    let used = cost * this.#windowMs
    for (const [slot, units] of slots) {
      const age = running - slot
      const inside = policy.algorithm === 'fixed-window' ? age <= mod(running, this.#slots) : age <= this.#slots
      if (!inside) continue
      const weighted = policy.algorithm === 'sliding-window' && (policy.slices ?? 1) === 1 && age === this.#slots
      used += units * (weighted ? this.#windowMs - elapsed : this.#windowMs)
    }
    return used <= policy.limit * this.#windowMs
  }

  #resetAfterMs(slots: Slots, policy: Policy, now: number): number {
    const running = this.#slotAt(now)
    const counted = [...slots].filter(([, units]) => units > 0).map(([slot]) => slot)
    if (counted.length === 0) return 0
    const last = Math.max(...counted)
    const perWindow = this.#slots
    const leaves =
      policy.algorithm === 'fixed-window' ? (Math.floor(last / perWindow) + 1) * perWindow : last + perWindow + 1
    if (leaves <= running) return 0
    return (this.#origin ?? now) + (leaves * this.#windowMs) / this.#slots - now
  }
}

/** Returns the smallest integer from 0 for which `holds` is true. `holds` must stay true for all larger integers. */
function firstTrue(holds: (n: number) => boolean): number {
  if (holds(0)) return 0
  let high = 1
  while (!holds(high)) high *= 2
  let low = high / 2
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) high = middle
    else low = middle
  }
  return high
}

function mod(a: number, b: number): number {
  return ((a % b) + b) % b
}
