import { randomBytes } from 'node:crypto'
import { type AccountId, accountPlace } from '@sluice/counters/backend'
import type { QuotaTerms } from './account-periods.ts'
import { type AccountOwner, AccountSlot } from './account-slot.ts'

/** Number of accounts kept in memory; only idle accounts are evicted. */
const MAX_KEPT = 10_000
/** Maximum number of old accounts examined at each eviction. */
const MAX_EXAMINED = 16

/** Slots of the accounts in this process: the last 10,000 used, and all that have work. */
export class AccountSlots {
  readonly #owner: AccountOwner
  /** Slots by name and key, the least recently used first. */
  readonly #slots = new Map<string, AccountSlot>()

  constructor(opening?: string) {
    this.#owner = { writer: randomBytes(9).toString('base64url'), opening }
  }

  /** Returns the slot of an account, creating it if needed. */
  of(id: AccountId, terms: QuotaTerms): AccountSlot {
    const at = accountPlace(id)
    const slot = this.#slots.get(at) ?? new AccountSlot(id, terms, this.#owner)
    // a use that does not know the key, and so its zone, leaves waiting changes the zone that they know
    if (!terms.keyZone || terms.keyZone.zone !== undefined || slot.isIdle) slot.terms = terms
    this.#slots.delete(at)
    this.#slots.set(at, slot)
    if (this.#slots.size > MAX_KEPT) this.#evict()
    return slot
  }

  /** Returns the slots with a write whose outcome is unknown. */
  unconfirmed(): AccountSlot[] {
    return [...this.#slots.values()].filter((slot) => slot.hasUnconfirmedWrite)
  }

  /**
   * Evicts idle accounts among the oldest. It examines more than one account per added account, so that the number
   * shrinks again after a flood of keys.
   */
  #evict(): void {
    let examined = 0
    for (const [at, slot] of this.#slots) {
      if (examined++ === MAX_EXAMINED || this.#slots.size <= MAX_KEPT) return
      this.#slots.delete(at)
      if (!slot.isIdle) this.#slots.set(at, slot)
    }
  }
}
