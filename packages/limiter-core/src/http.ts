// Entry point for authors of adapters: limits for HTTP requests, and headers and bodies of responses.

export { LARGEST_LOG } from './algorithms/sliding-log.ts'
export { banCallsEnded } from './ban/unawaited.ts'
export { allOf, andThen, isPromise } from './contracts/maybe-promise.ts'
export type * from './contracts.ts'
export { hasTaken } from './decision/taken-charges.ts'
export { binds, ChargeVerdict, hasDenial, RequestDecision } from './decision/verdict.ts'
export { badOption, badValue } from './errors/bad-option.ts'
export { messageOf, type SluiceCode, SluiceError } from './errors/errors.ts'
export { kindOf, shown } from './errors/shown.ts'
export { warn, warnOnce } from './errors/warn-once.ts'
export { compileFailover, type FailoverOptions, type FailoverRule } from './failover/failover-options.ts'
export { Deadlines } from './failover/health/deadlines.ts'
export { DRAFT, type ListDialect, ROUNDING_ERROR_MS, stringItem, wholeSeconds } from './http/headers/fields.ts'
export {
  DRAFT_HEADERS,
  type FieldDialect,
  type HeaderEntry,
  type HeaderLine,
  type HeaderPlan,
  type HttpDenial,
  headerLines,
  httpDenial,
  policyItems,
  rateEntry,
  soleEntry,
  type Vendor,
  violatedPolicies,
} from './http/headers/gate.ts'
export { PROBLEM_MEDIA_TYPE, problemBody } from './http/headers/problem.ts'
export { retryAfterMs } from './http/headers/retry-after.ts'
export { FULL, WEIGHT_EXCEEDS_LIMIT } from './inflight/cap-answers.ts'
export { BackedInflightLimiter, isAdaptive } from './inflight/inflight-limiter.ts'
export { MemoryInflight } from './inflight/memory-inflight.ts'
export { WatchedPermit } from './inflight/watched-permit.ts'
export { type Address, parseAddress, withoutPort, writeIPv6 } from './keys/address.ts'
export { type AddressRules, addressKey, addressRules } from './keys/address-key.ts'
export { type AddressRange, isWithin, MAPPED_IPV4, rangeOf } from './keys/address-range.ts'
export { clientKey } from './keys/client-key.ts'
export { joinedKey } from './keys/joined-key.ts'
export {
  type AddressDoubt,
  ANONYMOUS,
  DENY,
  EXEMPT,
  type KeySource,
  NO_ADDRESS,
  type ReportFallback,
  type ResolvedKey,
  reportNothing,
  resolveKey,
} from './keys/key-source.ts'
export { isPreflight, preflightKey } from './keys/preflight.ts'
export { byIp, isHeaderName, labelOf } from './keys/sources.ts'
export type { RequestTerms } from './limiter/charges.ts'
export { wholeCost } from './limiter/costs/costs.ts'
export type { LimiterHold } from './limiter/holds/open-hold.ts'
export { KeyTerms } from './limiter/key-terms.ts'
export type { Outcome } from './limiter/limiter.ts'
export { backendOf, type LimiterIdentity, type OpenOptions, openPolicies } from './limiter/open-policies.ts'
export type { OpenPolicy } from './limiter/open-policy.ts'
export { PolicyLimiter } from './limiter/policy-limiter.ts'
export { LimiterWarnings } from './observers/limiter-warnings.ts'
export { Observers } from './observers/observers.ts'
export type { OptionPlaces } from './options/option-hints.ts'
export {
  integerFrom,
  isRequest,
  oneOf,
  optionalBoolean,
  optionalFunction,
  optionsOf,
  POLICY_ONLY,
} from './options/options.ts'
export type { BanInput } from './policy/ban-options.ts'
export { DEFAULT_NAMES } from './policy/default-names.ts'
export { type Mode, modeOf, parseMode } from './policy/mode.ts'
export { checkedUnits, headerText, LARGEST_HEADER_INTEGER, type PolicyInput } from './policy/policy.ts'
export { inThisContext } from './process/async-context.ts'
export {
  type CollapsedClients,
  collapsedClients,
  recordCollapsedClients,
} from './process/collapsed-clients.ts'
export { processWideMap } from './process/process-wide.ts'
export { afterThisTurn, clockOf, isSystemClock, KEEP_ALIVE, systemClock } from './time/clock.ts'
export { type Duration, parseDuration, parseMs, parseTimerMs } from './time/duration.ts'
