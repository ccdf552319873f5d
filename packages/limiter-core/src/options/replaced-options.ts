/** Option names of other rate limiters and the corresponding options of Sluice. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  windowMs: 'window',
  timeWindow: 'window',
  ttl: 'window',
  duration: 'window',
  interval: 'window',
  max: 'limit',
  points: 'limit',
  tokens: 'limit',
  requests: 'limit',
  delayAfter: 'after',
  keyGenerator: 'key',
  getTracker: 'key',
  id: 'key',
  requestWeight: 'cost',
  store: 'backend',
  storage: 'backend',
  redis: 'backend',
  storeClient: 'backend',
  keyPrefix: 'scope',
  skipIf: 'skip',
  allowList: 'skip',
  skipOnError: 'onBackendError',
  passOnStoreError: 'onBackendError',
  insuranceLimiter: 'onBackendError',
  statusCode: 'status',
  handler: 'denied',
  message: 'denied',
  errorResponseBuilder: 'denied',
  errorMessage: 'denied',
  standardHeaders: 'headers',
  legacyHeaders: 'headers',
  addHeaders: 'headers',
  disableHeader: 'headers',
  skipSuccessfulRequests: 'cost: { reserve, settle }',
  skipFailedRequests: 'cost: { reserve, settle }',
}

/** Returns the option of Sluice that corresponds to an option of another rate limiter, if there is one. */
export function replacementFor(foreign: string): string | undefined {
  return Object.hasOwn(REPLACEMENTS, foreign) ? REPLACEMENTS[foreign] : undefined
}
