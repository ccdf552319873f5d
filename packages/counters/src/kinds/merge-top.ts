import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import { checkCount } from './leaderboard.ts'
import { byRank, type LeaderboardEntry } from './ranked-entries.ts'

/**
 * Returns the first `k` members (an integer from 1, default: 10) of several shards, given the result of `top(k)` of
 * each shard. Exact if each member has its whole score in one shard and each list has `k` entries or the whole shard:
 * then a member missing from its shard's list cannot be among the first `k`. O(n log n) for `n` entries, less for
 * sorted lists.
 *
 * Throws `SLUICE_BAD_OPTION`, and `SLUICE_BAD_MESSAGE` if a list is malformed or a member occurs twice.
 */
export function mergeTop(lists: Iterable<readonly LeaderboardEntry[]>, k = 10): readonly LeaderboardEntry[] {
  checkCount('mergeTop', k)
  const entries = flattened(lists)
  const members = new Set(entries.map(({ member }) => member))
  if (members.size < entries.length) throw badLists('a duplicate member')
  return entries.sort(byRank).slice(0, k)
}

function flattened(lists: unknown): LeaderboardEntry[] {
  if (typeof lists !== 'object' || lists === null || !(Symbol.iterator in lists)) throw badLists(kindOf(lists))
  const entries: LeaderboardEntry[] = []
  for (const list of lists as Iterable<unknown>) {
    if (!Array.isArray(list)) throw badLists(kindOf(list))
    for (const entry of list as readonly unknown[]) {
      if (!isEntry(entry)) throw badLists(`a list with ${kindOf(entry)}`)
      entries.push(entry)
    }
  }
  return entries
}

function isEntry(entry: unknown): entry is LeaderboardEntry {
  const { member, score } = Object(entry) as { readonly member?: unknown; readonly score?: unknown }
  return typeof member === 'string' && Number.isSafeInteger(score)
}

function badLists(received: string): SluiceError {
  return new SluiceError('SLUICE_BAD_MESSAGE', `mergeTop: expected lists returned by top(), received ${received}`)
}
