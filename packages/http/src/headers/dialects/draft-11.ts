import type { ListDialect } from '@sluice/limiter-core/http'

/** Draft 11, where `r` is the available quota, and `t` the effective window. Both have the bytes of draft 8. */
export const draft11: ListDialect = { available: 'r', seconds: 't' }
