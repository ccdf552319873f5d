import type { FieldDialect } from '@sluice/limiter-core/http'

/** The fields from before the drafts, whose reset has two units. */
export const legacy = (reset: FieldDialect['reset']): FieldDialect => ({ prefix: 'X-RateLimit', reset })
