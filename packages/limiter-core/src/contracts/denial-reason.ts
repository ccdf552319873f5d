/**
 * Why a permit was denied: no free place (`full`), the places are needed for more important work (`priority`), no place
 * in the queue (`queue-full`), too long a wait in it (`timeout`), a key that an operator blocks (`blocked`), or a weight
 * above the limit (`weight`).
 */
export type DenialReason = 'full' | 'priority' | 'queue-full' | 'timeout' | 'blocked' | 'weight'
