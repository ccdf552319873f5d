import type { Script } from '@sluice/limiter-core'

/** Forgets KEYS. */
export const resetScript: Script = { name: 'reset', text: `return redis.call('UNLINK', unpack(KEYS))` }
