import slotOf from 'cluster-key-slot'

/**
 * Returns the hash slot of a key in Redis Cluster, 0 to 16,383. A hash tag in braces replaces the key, if it has one.
 */
export function hashSlot(key: string): number {
  return slotOf(key)
}
