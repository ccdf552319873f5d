import { targetId } from '../backend/target-id.ts'
import type { CountedKey, PriorUsage } from '../contracts.ts'

/** Largest number of remembered keys; the oldest resets are forgotten. */
const MOST_KEYS = 1_000

/** When keys were reset, so that older knowledge about them is ignored. */
export class ResetMarks {
  readonly #resetAt = new Map<string, number>()

  note(target: CountedKey, now: number): void {
    const id = targetId(target)
    this.#resetAt.delete(id)
    this.#resetAt.set(id, now)
    for (const oldest of this.#resetAt.keys()) {
      if (this.#resetAt.size <= MOST_KEYS) break
      this.#resetAt.delete(oldest)
    }
  }

  /** Whether the key was reset since. */
  isVoid(target: CountedKey, at: number): boolean {
    return this.#resetAt.size > 0 && at <= (this.#resetAt.get(targetId(target)) ?? Number.NEGATIVE_INFINITY)
  }

  /** Returns `known` unless it is older than the last reset of the key. */
  since(target: CountedKey, known: PriorUsage | undefined, now: number): PriorUsage | undefined {
    if (!known || this.#resetAt.size === 0) return known
    const { used, ageMs, admitted } = known
    const isOld = (age: number): boolean => this.isVoid(target, now - age)
    return {
      ...known,
      used: typeof ageMs === 'number' && isOld(ageMs) ? 0 : used,
      admitted: admitted && isOld(admitted.ageMs) ? undefined : admitted,
    }
  }
}
