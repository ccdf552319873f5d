export * from '@sluice/http/shared'
export type { FetchInfo } from './client-address.ts'
export {
  createSluice,
  explainClient,
  type FetchInflightLimitOptions,
  type FetchMiddleware,
  type FetchNext,
  type FetchRateLimitOptions,
  inflightLimit,
  rateLimit,
  shed,
  slowDown,
  sluiceOf,
} from './fetch.ts'
export type { FetchReply } from './limit-reply.ts'
