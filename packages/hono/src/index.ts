export type { FetchReply } from '@sluice/fetch'
export * from '@sluice/http/shared'
export {
  createSluice,
  explainClient,
  type HonoInflightLimitOptions,
  type HonoMiddleware,
  type HonoOptions,
  type HonoRateLimitOptions,
  inflightLimit,
  rateLimit,
  type SluiceEnv,
  type SluiceVariables,
  shed,
  slowDown,
} from './hono.ts'
