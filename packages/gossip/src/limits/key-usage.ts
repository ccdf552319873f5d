import type { FleetTime } from './fleet-time.ts'
import { keptMs, type SlotPolicy, writeCells } from './slot-cells.ts'
import type { Usage } from './usage-item.ts'
import { addUnits, forgetSlots, type Slots, unitsOf } from './usage-slots.ts'

/** A reset arrives again with each item of its replica, and each time with another transit time. This is the longest. */
const SAME_MS = 2_000
/** Age up to which a reset also removes units that this process took before the reset arrived. */
const RECENT_MS = 5_000

/** Units that each replica took of one key. */
export class KeyUsage {
  readonly others: Map<string, Usage> = new Map()
  /** When the key was last reset; units taken before that do not count. */
  resetAt: number = Number.NEGATIVE_INFINITY
  /** When this process last took units of the key. */
  takenAt: number = Number.NEGATIVE_INFINITY
  keptMs = 0
  /** When this process last reset the key itself. */
  #ownResetAt: number = Number.NEGATIVE_INFINITY
  /** Slots of this process for each form in which the key is counted. */
  #own: number[][] = []

  /** Units in the slots of this process. */
  get ownUnits(): number {
    return this.#own.length > 0 ? unitsOf(this.#own[0]) : 0
  }

  get isOwn(): boolean {
    return this.#own.length > 0
  }

  /** Records units taken by this process. `takes` alternates between instants and units. */
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

  /** Returns the cells of a policy at process time `now`. */
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
        ...Array.from(this.others.values(), ({ forms, resetAt }) => this.#valid(forms[form], resetAt)),
      ]
      writeCells(written, policy, time.slotStart(now, policy.slotMs), usages, now)
    }
    return written
  }

  /**
   * Returns the units that this process took, to be shared with the other replicas. A received reset is not sent on: its
   * transit time would be added each time, so that replicas which take units would move it forward forever.
   */
  usage(): Usage {
    return { keptMs: this.keptMs, resetAt: this.#ownResetAt, forms: this.#own }
  }

  /** Resets the key in this process, which sends the reset to the other replicas. */
  resetHere(now: number): void {
    this.#ownResetAt = now
    this.reset(now, now)
  }

  /**
   * Resets the key if `at` is later than the last reset. Returns true if that removed units of this process. A slot does
   * not tell how many of its units were taken before the reset, so those until now are removed with them.
   */
  reset(at: number, now: number): boolean {
    if (at <= this.resetAt) return false
    const isNew = at - this.resetAt > SAME_MS && now - at <= RECENT_MS
    this.resetAt = at
    const before = this.ownUnits
    for (const own of this.#own) forgetSlots(own, (start, lastAt) => lastAt <= at || (isNew && start <= at))
    return this.ownUnits !== before
  }

  forgetOwn(): void {
    this.#own = []
  }

  /**
   * Returns the slots of another replica with units after the last reset. If that replica made this reset, at
   * `theirResetAt`, the two times of its item are compared: they have the same transit time.
   */
  #valid(slots: Slots = [], theirResetAt: number): Slots {
    const { resetAt } = this
    if (resetAt === Number.NEGATIVE_INFINITY) return slots
    const validFrom = resetAt - theirResetAt <= SAME_MS ? theirResetAt : resetAt
    const valid = [...slots]
    forgetSlots(valid, (_, lastAt) => lastAt < validFrom)
    return valid
  }
}
