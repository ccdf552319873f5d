import { drainPerMs } from '../algorithms/policy-forms.ts'
import type { CompiledPolicy, PolicyVariant } from '../contracts.ts'
import { FRACTION } from './page-layout.ts'
import type { SlotRef } from './shard.ts'
import type { Memory } from './tail.ts'
import type { Ticks } from './ticks.ts'

/** tolerance for a sum of doubles */
const ROUNDING_MS = 1

/** Returns what a policy counts, each with its own cells: its variants, or itself. */
export function formsOf(compiled: CompiledPolicy): readonly PolicyVariant[] {
  const perMs = drainPerMs(compiled.policy)
  return compiled.variants ?? [{ compiled, at: 0, role: 'own', perMs, ceiling: Number.POSITIVE_INFINITY }]
}

/** A policy and its forms. */
interface Counted {
  readonly compiled: CompiledPolicy
  readonly forms: readonly PolicyVariant[]
}

/** What an eviction would have to add to the tail about a key. */
interface Lacked {
  units: number
  expiry: number
}

/**
 * The memory of the tail about a key, in the numbers of its policy. A key that adopts it ends with it, under any
 * plan, and leaves behind only its own usage; otherwise the memory would outlast what caused it.
 */
export class Recall {
  /** Placeholder for a key that is not in the table, so that reading leaves no trace. */
  readonly absent: SlotRef = { words: new Int32Array(0), word: 0, expiry: 0, cells: new Float64Array(4), at: 0 }
  readonly #memory: Memory
  readonly #ticks: Ticks
  readonly #lacked: Lacked = { units: 0, expiry: 0 }

  /** `memory` is what the tail remembers of the selected key. */
  constructor(memory: Memory, ticks: Ticks) {
    this.#memory = memory
    this.#ticks = ticks
  }

  /** The place of a key without any use. */
  nothing({ compiled }: Counted): SlotRef {
    if (this.absent.cells.length < compiled.cells) this.absent.cells = new Float64Array(compiled.cells)
    else this.absent.cells.fill(0)
    return this.absent
  }

  /** Writes what is remembered to an unused slot. */
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
   * Of the `used` units of a remembered key, `units` is the most that the tail lacks, now or when it forgets; at
   * `expiry` the key may be forgotten.
   */
  lacked(counted: Counted, place: SlotRef, now: number, used: number): Lacked {
    const { compiled } = counted
    const remembered = this.nothing(counted)
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
 * Returns how long the key's own usage lasts, without the remembered part. Draining usage ends later because of what
 * was there before; debt is kept completely.
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
