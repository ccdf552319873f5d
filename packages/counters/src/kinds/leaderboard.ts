import { badOption, kindOf, SluiceError, shown } from '@sluice/limiter-core/backend'
import { checkDelta } from '../counter-delta.ts'
import { checkId } from '../counter-id.ts'
import { type LeaderboardEntry, RankedEntries } from './ranked-entries.ts'

/**
 * Members ranked by score, highest first; members with equal scores are ordered by their UTF-16 code units. It is exact
 * and kept in memory without a limit on the number of members. A score is an integer within ±(2^53 - 1), a member a
 * string of 1 to 256 bytes. A change or a rank takes O(√n), the first k members O(k).
 */
export class Leaderboard {
  readonly #entries = new Map<string, LeaderboardEntry>()
  readonly #ranked = new RankedEntries()

  /** Number of members. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * Adds `delta` (default: 1) to the score of a member, which starts at 0, and returns the score. Throws
   * `SLUICE_BAD_COUNTER_ID`, `SLUICE_BAD_DELTA`, and `SLUICE_COUNTER_RANGE` if the score would leave its range; then
   * nothing changes.
   */
  increment(member: string, delta = 1): number {
    checkId(member)
    checkDelta(delta)
    const score = (this.score(member) ?? 0) + delta
    if (!Number.isSafeInteger(score)) throw beyondRange(delta)
    this.#put({ member, score })
    return score
  }

  /**
   * Sets the score of a member. Throws `SLUICE_BAD_COUNTER_ID`, and `SLUICE_BAD_DELTA` if `score` is not an integer
   * within ±(2^53 - 1).
   */
  set(member: string, score: number): void {
    checkId(member)
    checkDelta(score)
    this.#put({ member, score })
  }

  /** Removes a member. Returns false if the member has no score. */
  delete(member: string): boolean {
    const entry = this.#entries.get(member)
    if (!entry) return false
    this.#ranked.delete(entry)
    return this.#entries.delete(member)
  }

  /** Returns the score of a member; undefined if there is none. */
  score(member: string): number | undefined {
    return this.#entries.get(member)?.score
  }

  /**
   * Returns the rank of a member, from 1, or undefined without a score. Members with equal scores have different ranks.
   */
  rank(member: string): number | undefined {
    const entry = this.#entries.get(member)
    return entry && this.#ranked.placeOf(entry) + 1
  }

  /**
   * Returns the first `k` members, an integer from 1 (default: 10), or all if there are fewer. Throws
   * `SLUICE_BAD_OPTION`.
   */
  top(k = 10): readonly LeaderboardEntry[] {
    checkCount('top', k)
    return this.#ranked.first(k)
  }

  /**
   * Adds the scores of `other`; merging the same leaderboard twice counts its scores twice. Throws `SLUICE_BAD_MESSAGE`
   * if it is not a `Leaderboard`, and `SLUICE_COUNTER_RANGE` if a score would leave its range; then nothing changes.
   */
  merge(other: Leaderboard): void {
    const { top, score: scoreOf } = Object(other) as Partial<Leaderboard>
    if (typeof top !== 'function' || typeof scoreOf !== 'function') {
      throw new SluiceError('SLUICE_BAD_MESSAGE', `merge: expected a Leaderboard, received ${kindOf(other)}`)
    }
    const added = Array.from(other.top(Number.MAX_SAFE_INTEGER), ({ member, score }) => {
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

/** Throws `SLUICE_BAD_OPTION` unless `k` is an integer from 1. */
export function checkCount(call: string, k: unknown): asserts k is number {
  if (!Number.isSafeInteger(k) || Number(k) < 1) throw badOption(`${call}: k`, k, 'an integer from 1')
}

function beyondRange(delta: unknown): SluiceError {
  const expected = 'a delta that keeps the score within ±(2^53 - 1)'
  return new SluiceError('SLUICE_COUNTER_RANGE', `delta: expected ${expected}, received ${shown(delta)}`)
}
