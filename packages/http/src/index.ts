// Entry point for authors of adapters.
export * from '@sluice/limiter-core/http'
export type { ClientSource } from './client/client-source.ts'
export { CollapseDetector } from './client/collapse-detector.ts'
export { type ClientExplanation, type ExplainClientOptions, explainSource } from './client/explain-client.ts'
export { writeDenialHead } from './denial/denial-writer.ts'
export type { DeniedRequest } from './denial/denied-request.ts'
export { type DenialError, sendDenial, sendDenialBody } from './denial/send-denial.ts'
export type { HttpExchange } from './exchange.ts'
export { releasePermit } from './lifecycle/release-permit.ts'
export { type Ending, RequestLife } from './lifecycle/request-life.ts'
export { admitAll } from './limits/admit-all.ts'
export { HttpInflightLimit } from './limits/http-inflight-limit.ts'
export {
  type Admission,
  type HttpLimit,
  type InflightHandle,
  isDeniedRequest,
  type RateHandle,
  type SlowDownHandle,
} from './limits/http-limit.ts'
export { HttpRateLimit } from './limits/http-rate-limit.ts'
export { HttpSlowDown } from './limits/http-slow-down.ts'
export { InHandlerDetector } from './limits/in-handler-detector.ts'
export {
  compileSharedOptions,
  type LimiterFactories,
  type Limiters,
  limitersFor,
  type SharedOptions,
  SLUICE_OPTIONS,
  type Sluice,
  type SluiceOptions,
} from './limits/limiters.ts'
export { rejectUncalled } from './limits/reject-uncalled.ts'
export { routeMethod } from './route-method.ts'
