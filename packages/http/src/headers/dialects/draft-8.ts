import type { ListDialect } from '@sluice/limiter-core/http'

/** Drafts 8 to 10 of draft-ietf-httpapi-ratelimit-headers, where `r` is what remains, and `t` the reset. */
export const draft8: ListDialect = { available: 'r', seconds: 't' }
