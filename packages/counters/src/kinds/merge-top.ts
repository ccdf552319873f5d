import { kindOf, SluiceError } from '@sluice/limiter-core/backend'
import { checkCount } from './leaderboard.ts'
import { byRank, type LeaderboardEntry } from './ranked-entries.ts'

/**
 * The first `k` of all members, a whole number from 1, of what `top(k)` answers in each shard. Exact where each member
 * has all of its score in one shard and each list has `k` entries or all that there are: then nobody who is missing in
 * the list of a shard is among the first `k`. O(n log n) for `n` entries, less where the lists are in order.
 *
 * Throws `SLUICE_BAD_OPTION`, and `SLUICE_BAD_MESSAGE` for lists that are none or that have a member twice.
 */
export function mergeTop(lists: Iterable<readonly LeaderboardEntry[]>, k = 10): readonly LeaderboardEntry[] {
  checkCount('mergeTop', k)
  const entries = flattened(lists)
  const members = new Set(entries.map(({ member }) => member))
  if (members.size < entries.length) throw badLists('a member twice')
  return entries.sort(byRank).slice(0, k)
}

function flattened(lists: unknown): LeaderboardEntry[] {
  if (typeof lists !== 'object' || lists === null || !(Symbol.iterator in lists)) throw badLists(kindOf(lists))
  const entries: LeaderboardEntry[] = []
  for (const list of lists as Iterable<unknown>) {
    if (!Array.isArray(list)) throw badLists(kindOf(list))
    for (const entry of list as readonly unknown[]) {
      if (!isEntry(entry)) throw badLists(`${kindOf(entry)} in one`)
      entries.push(entry)
    }
  }
  return entries
}

function isEntry(entry: unknown): entry is LeaderboardEntry {
  const { member, score } = Object(entry) as { readonly member?: unknown; readonly score?: unknown }
  return typeof member === 'string' && Number.isSafeInteger(score)
}

function badLists(got: string): SluiceError {
  return new SluiceError('SLUICE_BAD_MESSAGE', `mergeTop: expected lists of what top() answers, received ${got}`)
}
