import { badOption, kindOf, SluiceError, shown } from '@sluice/limiter-core/backend'
import { checkDelta } from '../counter-delta.ts'
import { checkId } from '../counter-id.ts'
import { type LeaderboardEntry, RankedEntries } from './ranked-entries.ts'

/**
 * Members in the order of their scores, the highest first; of equal scores the member that comes first by its UTF-16
 * units. In memory and exact. A score is a whole number within ±(2^53 - 1), a member any text of 1 to 256 bytes; how many
 * there are is up to the caller. A change and a rank take O(√n), the first k O(k).
 */
export class Leaderboard {
  readonly #entries = new Map<string, LeaderboardEntry>()
  readonly #ranked = new RankedEntries()

  /** Members that have a score. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * Adds `delta` to the score of a member, 0 for a new one; default: 1. Answers the score. Throws `SLUICE_BAD_COUNTER_ID`,
   * `SLUICE_BAD_DELTA`, and `SLUICE_COUNTER_RANGE` where the score would leave its range; then nothing has changed.
   */
  increment(member: string, delta = 1): number {
    checkId(member)
    checkDelta(delta)
    const score = (this.score(member) ?? 0) + delta
    if (!Number.isSafeInteger(score)) throw beyondRange(delta)
    this.#put({ member, score })
    return score
  }

  /** Throws `SLUICE_BAD_COUNTER_ID`, and `SLUICE_BAD_DELTA` for a score that is none. */
  set(member: string, score: number): void {
    checkId(member)
    checkDelta(score)
    this.#put({ member, score })
  }

  /** False where it had no score. */
  delete(member: string): boolean {
    const entry = this.#entries.get(member)
    if (!entry) return false
    this.#ranked.delete(entry)
    return this.#entries.delete(member)
  }

  /** Undefined for a member that has none. */
  score(member: string): number | undefined {
    return this.#entries.get(member)?.score
  }

  /** 1 for the first, and another one for each member, also where scores are equal; undefined for a member without a score. */
  rank(member: string): number | undefined {
    const entry = this.#entries.get(member)
    return entry && this.#ranked.placeOf(entry) + 1
  }

  /** The first `k`, a whole number from 1; fewer where there are fewer. Default: 10. Throws `SLUICE_BAD_OPTION`. */
  top(k = 10): readonly LeaderboardEntry[] {
    checkCount('top', k)
    return this.#ranked.first(k)
  }

  /**
   * Adds the scores of the other: twice the same is counted twice. Throws `SLUICE_BAD_MESSAGE` for what is no
   * `Leaderboard`, and `SLUICE_COUNTER_RANGE` where a score would leave its range; then nothing has changed.
   */
  merge(other: Leaderboard): void {
    if (!(other instanceof Leaderboard)) {
      throw new SluiceError('SLUICE_BAD_MESSAGE', `merge: expected a Leaderboard, received ${kindOf(other)}`)
    }
    const added = Array.from(other.#entries.values(), ({ member, score }) => {
      return { member, score: (this.score(member) ?? 0) + score }
    })
    for (const { member, score } of added) {
      if (!Number.isSafeInteger(score)) throw beyondRange(other.score(member))
    }
    for (const entry of added) this.#put(entry)
  }

  #put(entry: LeaderboardEntry): void {
    const before = this.#entries.get(entry.member)
    if (before?.score === entry.score) return
    if (before) this.#ranked.delete(before)
    this.#ranked.add(entry)
    this.#entries.set(entry.member, entry)
  }
}

/** Throws `SLUICE_BAD_OPTION` unless `k` is a whole number from 1. */
export function checkCount(call: string, k: unknown): asserts k is number {
  if (!Number.isSafeInteger(k) || Number(k) < 1) throw badOption(`${call}: k`, k, 'a whole number from 1')
}

function beyondRange(delta: unknown): SluiceError {
  const expected = 'a score that stays within ±(2^53 - 1)'
  return new SluiceError('SLUICE_COUNTER_RANGE', `delta: expected ${expected}, received ${shown(delta)}`)
}
