import { drainPerMs } from '../algorithms/policy-forms.ts'
import type { CompiledPolicy, PolicyVariant } from '../contracts.ts'
import { FRACTION } from './page-layout.ts'
import type { SlotRef } from './shard.ts'
import type { Memory } from './tail.ts'
import type { Ticks } from './ticks.ts'

/** Tolerance for rounding errors in sums of doubles. */
const ROUNDING_MS = 1

/** Returns the variants of a policy, or the policy itself as the only variant. Each variant has its own cells. */
export function formsOf(compiled: CompiledPolicy): readonly PolicyVariant[] {
  const perMs = drainPerMs(compiled.policy)
  return compiled.variants ?? [{ compiled, at: 0, role: 'own', perMs, ceiling: Number.POSITIVE_INFINITY }]
}

/** A policy and its variants. */
interface Counted {
  readonly compiled: CompiledPolicy
  readonly forms: readonly PolicyVariant[]
}

/** The part of a key's usage that the tail does not remember. */
interface Lacked {
  units: number
  expiry: number
}

/**
 * Converts what the tail remembers of a key into cells of its policy. Under every plan, remembered usage ends when the
 * tail forgets the key, and only the usage counted since then stays; otherwise it would last longer than the usage that
 * it stands for.
 */
export class Recall {
  /** Stands in for the slot of a key that is not in the table, so that reading a key does not insert it. */
  readonly absent: SlotRef = { words: new Int32Array(0), word: 0, expiry: 0, cells: new Float64Array(4), at: 0 }
  readonly #memory: Memory
  readonly #ticks: Ticks
  readonly #lacked: Lacked = { units: 0, expiry: 0 }

  /** `memory` holds what the tail remembers of the selected key. */
  constructor(memory: Memory, ticks: Ticks) {
    this.#memory = memory
    this.#ticks = ticks
  }

  /** Returns the slot of a key without usage. */
  unusedSlot({ compiled }: Counted): SlotRef {
    if (this.absent.cells.length < compiled.cells) this.absent.cells = new Float64Array(compiled.cells)
    else this.absent.cells.fill(0)
    return this.absent
  }

  /** Writes the remembered usage to a slot without usage. */
  write({ compiled, forms }: Counted, { cells, at }: SlotRef, now: number): void {
    const { fraction, expiry } = this.#memory
    // the fraction was rounded up when it was marked
    const used = Math.floor((fraction * compiled.capacity) / FRACTION)
    const endsMs = this.#ticks.endOf(expiry) - now
    for (const { compiled: counted, at: from, role, perMs, ceiling } of forms) {
      const longestMs = perMs > 0 ? (role === 'own' ? ceiling : used) / perMs : endsMs
      counted.adopt(cells, at + from, now, Math.min(used, counted.capacity), Math.min(endsMs, longestMs))
    }
  }

  /**
   * Returns what the tail would lack if a remembered key with `used` units were evicted. `units`: the larger of the
   * units that are missing now and the units that are missing once the tail forgets the key. `expiry`: when the key is
   * unused. The object is reused by the next call.
   */
  missing(counted: Counted, place: SlotRef, now: number, used: number): Lacked {
    const compiled = counted.compiled.bookings?.inner ?? counted.compiled
    const remembered = this.unusedSlot(counted)
    this.write(counted, remembered, now)
    const left = compiled.remaining(remembered.cells, remembered.at, now)
    const forgottenAt = this.#ticks.endOf(this.#memory.expiry) + ROUNDING_MS
    const leftThen = compiled.remaining(place.cells, place.at, forgottenAt)
    this.#lacked.units = Math.max(used - compiled.capacity + left, compiled.capacity - leftThen)
    const ownEndsAt = this.#ticks.until(now + ownMs(counted.forms, place, remembered, now))
    this.#lacked.expiry = Math.max(this.#memory.expiry, ownEndsAt)
    return this.#lacked
  }
}

/**
 * Returns how long the key's own usage lasts, in milliseconds, without the remembered usage. Own usage drains after
 * remembered usage, whose time is subtracted; a debt is kept for its full time.
 */
function ownMs(forms: readonly PolicyVariant[], { cells, at }: SlotRef, remembered: SlotRef, now: number): number {
  let longest = 0
  for (const { compiled, at: from, perMs } of forms) {
    const keptMs = compiled.resetAfterMs(cells, at + from, now)
    const drainsAfterOthers = perMs > 0 && keptMs <= compiled.capacity / perMs + ROUNDING_MS
    const othersMs = drainsAfterOthers ? compiled.resetAfterMs(remembered.cells, remembered.at + from, now) : 0
    longest = Math.max(longest, keptMs - othersMs)
  }
  return longest
}
