export * from '@sluice/node-http/shared'
export {
  createSluice,
  explainClient,
  type FastifyInflightLimitOptions,
  type FastifyRateLimitOptions,
  InflightLimit,
  inflightLimit,
  RateLimit,
  rateLimit,
  Shed,
  SlowDown,
  shed,
  slowDown,
} from './fastify.ts'
export type { FastifyHook } from './fastify-mount.ts'
export type { FastifyOptions, FastifyPhase, FastifyRouteLimits, FastifySluiceOptions } from './sluice-options.ts'
export { sluice, sluice as default } from './sluice-plugin.ts'
