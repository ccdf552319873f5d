import { type CountedKey, type PriorUsage, targetId } from '@sluice/limiter-core/backend'

/** Maximum number of keys. The oldest resets are dropped first. */
const MAX_KEYS = 1_000

/** Times at which keys were reset, so that usage reported from before a reset is ignored. */
export class ResetMarks {
  readonly #resetAt = new Map<string, number>()

  note(target: CountedKey, now: number): void {
    const id = targetId(target)
    this.#resetAt.delete(id)
    this.#resetAt.set(id, now)
    for (const oldest of this.#resetAt.keys()) {
      if (this.#resetAt.size <= MAX_KEYS) break
      this.#resetAt.delete(oldest)
    }
  }

  /** Whether the key was reset at or after `at`. */
  isVoid(target: CountedKey, at: number): boolean {
    return this.#resetAt.size > 0 && at <= (this.#resetAt.get(targetId(target)) ?? Number.NEGATIVE_INFINITY)
  }

  /** Returns `known` without the parts that are older than the last reset of the key. */
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
