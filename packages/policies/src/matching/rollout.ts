/** Number of different places of keys; shares in a file have at most three digits after the point. */
const PLACES = 100_000

/**
 * Returns whether a share of the keys, from 0 to 1, includes a key. The place of a key depends on the policy and on the
 * key alone, so a larger share includes all keys of a smaller one, in all processes.
 */
export function isIncluded(share: number, policy: string, key: string): boolean {
  if (share >= 1) return true
  return share > 0 && placeOf(policy, key) < share * PLACES
}

/** Returns the share that a text such as `25%` describes; 1 without a text. */
export function shareOf(rollout: string | undefined): number {
  // in whole places, because 0.1 + 0.2 is more than 0.3
  return rollout === undefined ? 1 : Math.round(Number(rollout.slice(0, -1)) * (PLACES / 100)) / PLACES
}

/** Returns the place of a key: FNV-1a (Fowler, Noll, Vo) of both texts, mixed by the finalizer of MurmurHash3. */
function placeOf(policy: string, key: string): number {
  let hash = hashed(0x811c9dc5, policy)
  hash = hashed(Math.imul(hash ^ 0xff, PRIME), key)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  hash ^= hash >>> 16
  return (hash >>> 0) % PLACES
}

const PRIME = 0x01000193

function hashed(start: number, text: string): number {
  let hash = start
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    hash = Math.imul(hash ^ (unit & 0xff), PRIME)
    hash = Math.imul(hash ^ (unit >>> 8), PRIME)
  }
  return hash
}
