import { withErrorLink } from '../keyed-hash/index.ts'

/** Code of an error or a warning. `docs/errors.md` has a section for each code, which a test verifies. */
export type SluiceCode =
  | 'SLUICE_BAD_OPTION'
  | 'SLUICE_BAD_DURATION'
  | 'SLUICE_BAD_LIMIT'
  | 'SLUICE_BAD_NAME'
  | 'SLUICE_BAD_POLICY'
  | 'SLUICE_BAD_POLICY_FILE'
  | 'SLUICE_BAD_DESCRIPTION'
  | 'SLUICE_POLICIES_UNREADABLE'
  | 'SLUICE_BAD_COST'
  | 'SLUICE_BAD_KEY'
  | 'SLUICE_DUPLICATE_POLICY'
  | 'SLUICE_UNNAMED_LIMITER'
  | 'SLUICE_SHARED_COUNT'
  | 'SLUICE_UNKNOWN_POLICY'
  | 'SLUICE_UNKNOWN_PLAN'
  | 'SLUICE_HOOK_FAILED'
  | 'SLUICE_KEY_FALLBACK'
  | 'SLUICE_NO_ADDRESS'
  | 'SLUICE_BAD_ADDRESS'
  | 'SLUICE_FULL_ADDRESS_KEY'
  | 'SLUICE_FORWARDED_IGNORED'
  | 'SLUICE_UNTRUSTED_PROXY'
  | 'SLUICE_TRUSTS_ALL_PROXIES'
  | 'SLUICE_TRUSTS_NO_PROXY'
  | 'SLUICE_CLIENTS_COLLAPSED'
  | 'SLUICE_PROXY_NAMES_NO_CLIENT'
  | 'SLUICE_OLD_PROXY_RANGES'
  | 'SLUICE_LIMITER_IN_HANDLER'
  | 'SLUICE_LIMITER_TWICE'
  | 'SLUICE_RESPONSE_STARTED'
  | 'SLUICE_BACKEND_FAILED'
  | 'SLUICE_BACKEND_RECOVERED'
  | 'SLUICE_MEMORY_IN_CLUSTER'
  | 'SLUICE_OVERRIDES_STALE'
  | 'SLUICE_POLICIES_STALE'
  | 'SLUICE_BAD_LIST'
  | 'SLUICE_NO_ROUTE'
  | 'SLUICE_REDIS_EVICTION'
  | 'SLUICE_CLUSTER_RUNNER'
  | 'SLUICE_OBSERVER_DROPPED'
  | 'SLUICE_DENIED'
  | 'SLUICE_THROTTLED'
  | 'SLUICE_SECRET_MISSING'
  | 'SLUICE_BAD_MESSAGE'
  | 'SLUICE_SKETCH_UNREADABLE'
  | 'SLUICE_BAD_COUNTER_ID'
  | 'SLUICE_BAD_DELTA'
  | 'SLUICE_BAD_TOKEN'
  | 'SLUICE_TOKEN_REUSED'
  | 'SLUICE_COUNTER_RANGE'
  | 'SLUICE_COUNTERS_FULL'
  | 'SLUICE_COUNTERS_CLOSED'
  | 'SLUICE_COUNTER_TABLES'
  | 'SLUICE_COUNTERS_NOT_REPLICATED'
  | 'SLUICE_COUNTERS_UNAVAILABLE'
  | 'SLUICE_NO_RESERVATION'
  | 'SLUICE_UNKNOWN_TAKE'
  | 'SLUICE_BUDGET_EXHAUSTED'
  | 'SLUICE_FOLDER_IN_USE'
  | 'SLUICE_GOSSIP_FORGED'
  | 'SLUICE_GOSSIP_UNAVAILABLE'

/** An error of Sluice. Identify it by its `code`: `instanceof` fails if a process loads several versions of a package. */
export class SluiceError extends Error {
  readonly code: SluiceCode
  constructor(code: SluiceCode, message: string, options?: ErrorOptions) {
    const text = `${code}: ${message}`
    // clients see the message of a denial, so it contains no link
    super(code === 'SLUICE_DENIED' ? text : withErrorLink(code, text), options)
    this.name = 'SluiceError'
    this.code = code
  }
}

/** Returns a thrown value as a string, even if it cannot be converted. */
export function messageOf(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'an error that cannot be converted to a string'
  }
}
