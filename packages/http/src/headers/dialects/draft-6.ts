import type { FieldDialect } from '@sluice/limiter-core/http'

/** Drafts 3 to 6. */
export const draft6: FieldDialect = { prefix: 'RateLimit', reset: 'delta' }
