import type { Clock } from '@sluice/limiter-core/http'
import { isPrivate } from './private-addresses.ts'

const HOUR_MS = 3_600_000
/** Warnings of an hour about addresses that clients of the internet cannot have. */
const MAX_OWN = 16
/** Warnings of an hour about other addresses, which clients can cause. */
const MAX_OTHERS = 4

/**
 * Limits warnings about addresses: one per hour for each private address and for each range of other addresses (/24, or
 * /48 of IPv6). Addresses that clients can have do not use up the warnings about the application's own proxies.
 */
export class WarnedAddresses {
  readonly #clock: Pick<Clock, 'now'>
  readonly #own = new Map<string, number>()
  readonly #others = new Map<string, number>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Returns whether a warning about an address may be printed, and takes it into account. `isOwn`: of a known proxy. */
  add(address: string, isOwn: boolean = isPrivate(address)): boolean {
    const now = this.#clock.now()
    const [warned, most] = isOwn ? [this.#own, MAX_OWN] : [this.#others, MAX_OTHERS]
    for (const [range, at] of warned) if (now - at >= HOUR_MS) warned.delete(range)
    const range = isOwn ? address : rangeOf(address)
    if (warned.has(range) || warned.size >= most) return false
    warned.set(range, now)
    return true
  }

  clear(): void {
    this.#own.clear()
    this.#others.clear()
  }

  /** Whether a warning about an address would be printed now. */
  mayAdd(address: string): boolean {
    const at = this.#own.get(address) ?? this.#others.get(rangeOf(address))
    return at === undefined || this.#clock.now() - at >= HOUR_MS
  }
}

function rangeOf(address: string): string {
  return address.includes(':') ? address.split(':', 3).join(':') : address.slice(0, address.lastIndexOf('.'))
}
