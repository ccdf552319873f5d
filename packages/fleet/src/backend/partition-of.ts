/** Default number of partitions. One call per partition keeps every script short. */
export const PARTITIONS = 64

/** Returns the partition of a key, 0 to `partitions` - 1. Uses FNV-1a without a seed, so that all processes agree. */
export function partitionOf(key: string, partitions: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % partitions
}
