// the exports that the packages of all frameworks have in common
export * from '@sluice/limiter-core'
export type { ClientExplanation, ExplainClientOptions } from './client/explain-client.ts'
export type { InflightHandle, RateHandle, SlowDownHandle } from './limits/http-limit.ts'
