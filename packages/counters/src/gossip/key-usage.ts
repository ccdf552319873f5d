import type { FleetTime } from './fleet-time.ts'
import { keptMs, type SlotPolicy, writeCells } from './slot-cells.ts'
import type { Usage } from './usage-item.ts'
import { addUnits, forgetSlots, type Slots, unitsOf } from './usage-slots.ts'

/** What all replicas took of one key, each by itself. */
export class KeyUsage {
  readonly others: Map<string, Usage> = new Map()
  /** When the key was last made as good as new; units that were taken before are of nobody. */
  resetAt: number = Number.NEGATIVE_INFINITY
  /** When this process last took of it. */
  takenAt: number = Number.NEGATIVE_INFINITY
  keptMs = 0
  /** Of each form in which the key is counted. */
  #own: number[][] = []

  /** Units that this process took. */
  get ownUnits(): number {
    return this.#own.length > 0 ? unitsOf(this.#own[0]) : 0
  }

  get isOwn(): boolean {
    return this.#own.length > 0
  }

  /** `takes`: instants and units by turns. */
  take(policies: readonly SlotPolicy[], takes: readonly number[], time: FleetTime, now: number): void {
    this.takenAt = now
    this.keptMs = keptMs(policies)
    for (const [form, policy] of policies.entries()) {
      this.#own[form] ??= []
      const own = this.#own[form]
      const oldest = time.slotStart(now, policy.slotMs) - (policy.kept - 0.5) * policy.slotMs
      forgetSlots(own, (start) => start < oldest)
      for (let at = 0; at < takes.length; at += 2) {
        const takenAt = Math.min(takes[at], now)
        addUnits(own, policy, time.slotStart(takenAt, policy.slotMs), takes[at + 1], takenAt)
      }
    }
  }

  /** The cells of a policy as they are now, by the process clock. */
  cells(
    { cells }: { readonly cells: number },
    policies: readonly SlotPolicy[],
    time: FleetTime,
    now: number,
  ): number[] {
    const written = new Array<number>(cells).fill(0)
    for (const [form, policy] of policies.entries()) {
      const usages = [
        this.#own[form] ?? [],
        ...Array.from(this.others.values(), ({ forms }) => this.#valid(forms[form])),
      ]
      writeCells(written, policy, time.slotStart(now, policy.slotMs), usages)
    }
    return written
  }

  /** What this process took, for all others. */
  usage(): Usage {
    return { keptMs: this.keptMs, resetAt: this.resetAt, forms: this.#own }
  }

  /** Makes the key as good as new where `at` is later than the last reset. True where this process had taken of it. */
  reset(at: number): boolean {
    if (at <= this.resetAt) return false
    this.resetAt = at
    const before = this.ownUnits
    for (const own of this.#own) forgetSlots(own, (_, lastAt) => lastAt <= at)
    return this.ownUnits !== before
  }

  forgetOwn(): void {
    this.#own = []
  }

  #valid(slots: Slots = []): Slots {
    if (this.resetAt === Number.NEGATIVE_INFINITY) return slots
    const valid = [...slots]
    forgetSlots(valid, (_, lastAt) => lastAt < this.resetAt)
    return valid
  }
}
