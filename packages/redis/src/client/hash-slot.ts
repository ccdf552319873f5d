import slotOf from 'cluster-key-slot'

/** The hash slot of a key in Redis Cluster: of its hash tag where it has one. */
export function hashSlot(key: string): number {
  return slotOf(key)
}
