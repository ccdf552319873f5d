/** Options of Sluice, each with the corresponding options of other rate limiters. */
const REPLACEMENTS: Readonly<Record<string, readonly string[]>> = {
  window: ['windowMs', 'timeWindow', 'ttl', 'duration', 'interval'],
  limit: ['max', 'points', 'tokens', 'requests'],
  after: ['delayAfter'],
  name: ['identifier'],
  key: ['keyGenerator', 'getTracker', 'generateKey', 'id'],
  'key: byIp({ ipv6Prefix })': ['ipv6Subnet', 'ipv6SubnetPrefix'],
  "countOnly: 'failures'": ['skipSuccessfulRequests'],
  "countOnly: 'successes'": ['skipFailedRequests'],
  'cost: { reserve, settle }': ['requestWasSuccessful'],
  backend: ['store', 'storage', 'redis', 'storeClient', 'driver'],
  scope: ['keyPrefix', 'namespace', 'nameSpace', 'prefix'],
  skip: ['skipIf', 'allowList', 'whitelist', 'ignoreUserAgents'],
  onBackendError: ['skipOnError', 'passOnStoreError', 'insuranceLimiter'],
  deadlineMs: ['timeout', 'timeoutMs'],
  status: ['statusCode'],
  denied: ['handler'],
  phase: ['hook'],
  message: ['errorMessage', 'errorResponseBuilder'],
  next: ['throw'],
  headers: ['standardHeaders', 'legacyHeaders', 'addHeaders', 'disableHeader', 'setHeaders', 'enableDraftSpec'],
  ban: ['blockDuration', 'continueExceeding', 'exponentialBackoff'],
  observers: ['onLimited', 'onExceeding', 'onExceeded', 'onBanReach', 'logger'],
}

/** Returns the option of Sluice that corresponds to an option of another rate limiter, if there is one. */
export function replacementFor(foreign: string): string | undefined {
  return Object.entries(REPLACEMENTS).find(([, names]) => names.includes(foreign))?.[0]
}
