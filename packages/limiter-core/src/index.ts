export type * from './contracts.ts'
export { policyFromEnv } from './environment/policy-from-env.ts'
export { type SluiceCode, SluiceError } from './errors/errors.ts'
export type { BackendErrorRule, FailoverOptions } from './failover/failover-options.ts'
export type { HeaderLine, HttpDenial } from './http/headers/gate.ts'
export type { ProblemType } from './http/headers/problem.ts'
export {
  createInflightLimiter,
  type InflightLimiter,
  type InflightLimiterOptions,
  type LocalInflightLimiter,
  type LocalInflightOptions,
} from './inflight/inflight-limiter.ts'
export type { AddressRules } from './keys/address-key.ts'
export { clientKey } from './keys/client-key.ts'
export { DENY, EXEMPT, type KeyFallback, type KeyResult, type KeySign, type KeySource } from './keys/key-source.ts'
export {
  type ByHeaderOptions,
  type ByIpOptions,
  byAll,
  byHeader,
  byIp,
  byPrincipal,
  byRoute,
  type JoinedKeySource,
  type LabelledKeySource,
} from './keys/sources.ts'
export type { Keys } from './limiter/charges.ts'
export type { Costs } from './limiter/costs/costs.ts'
export {
  createLimiter,
  type LimiterOptions,
  type OnePolicyLimiterOptions,
  type SyncLimiterOptions,
  type SyncOnePolicyLimiterOptions,
} from './limiter/create-limiter.ts'
export type { Hold, HoldOf, HoldOptions } from './limiter/holds/hold.ts'
export type { Limiter, Outcome } from './limiter/limiter.ts'
export { type WaitOptions, waitFor } from './limiter/wait-for.ts'
export { type MemoryBackendOptions, memoryBackend } from './memory/new-memory-backend.ts'
export type { LimitsByKey } from './overrides/key-limits.ts'
export {
  type FixedOverridesOptions,
  type LimitOverridesOptions,
  type LoadedOverridesOptions,
  limitOverrides,
} from './overrides/limit-overrides.ts'
export type { BanInput } from './policy/ban-options.ts'
export type { Mode } from './policy/mode.ts'
export type { PolicyInput } from './policy/policy.ts'
export type { Duration } from './time/duration.ts'
