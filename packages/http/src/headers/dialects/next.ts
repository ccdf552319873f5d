import type { ListDialect } from '@sluice/limiter-core/http'

/** The names that the authors proposed for the draft after 11 (ietf-wg-httpapi/ratelimit-headers, pull request 164). */
export const next: ListDialect = { available: 'a', seconds: 'w' }
