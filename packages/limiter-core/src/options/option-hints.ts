/**
 * What to write instead of an option that does not exist: an example, and the names of options with that meaning in
 * other limiters, in policy files and in other functions of Sluice. `name=value` matches only this value. An example
 * applies where its first word is an option.
 */
const COUNTERPARTS: readonly (readonly [example: string, names: string])[] = [
  ["headers: 'draft'", 'standardHeaders=draft-7 standardHeaders=draft-8 legacyHeaders=false'],
  ["headers: 'draft-6'", 'standardHeaders=true standardHeaders=draft-6 enableDraftSpec'],
  [
    "headers: 'legacy'",
    'legacyHeaders addHeaders=true setHeaders=true disableHeader=false standardHeaders=false remaining reset total',
  ],
  ["headers: 'none'", 'disableHeader setHeaders addHeaders'],
  ["headers: 'draft'", 'standardHeaders'],
  ["headersOn: 'denied'", 'addHeadersOnExceeding'],
  ["window: '1m'", 'windowMs timeWindow ttl duration interval period per windows'],
  ["per: 'month'", 'window windowMs ttl duration interval period'],
  ['limit: 100', 'max points tokens requests'],
  ['after: 50', 'delayAfter limit max'],
  ["name: 'login'", 'identifier'],
  ['key: (req) => …', 'keyGenerator getTracker generateKey id'],
  ['key: byIp({ ipv6Prefix: 56 })', 'ipv6Subnet ipv6SubnetPrefix normalizeIP'],
  ["countOnly: 'failures'", 'skipSuccessfulRequests'],
  ["countOnly: 'successes'", 'skipFailedRequests'],
  ['cost: { reserve: 1, settle: (req, res) => … }', 'requestWasSuccessful'],
  ['backend: redisBackend(client)', 'store storage redis storeClient driver cache db'],
  ["scope: 'api'", 'keyPrefix namespace nameSpace prefix'],
  ["prefix: 'sluice'", 'keyPrefix namespace nameSpace'],
  ["policies: [{ name: 'burst', … }]", 'throttlers'],
  ['backend: durableObjectBackend(env.LIMITS)', 'binding'],
  ['shared: true', 'groupId'],
  ['skip: (req) => …', 'skipIf allowList whitelist ignoreUserAgents shouldSkip'],
  ['key: (req) => … that returns DENY', 'blacklist'],
  ["onBackendError: 'allow'", 'skipOnError=true passOnStoreError=true'],
  ["onBackendError: 'local'", 'skipOnError passOnStoreError insuranceLimiter'],
  ['deadlineMs: 50', 'timeout timeoutMs'],
  ['status: 429', 'statusCode'],
  ['denied: (req, res) => …', 'handler'],
  ["phase: 'preHandler'", 'hook'],
  ['message: (req, { denial }) => …', 'errorMessage errorResponseBuilder getErrorMessage'],
  ['next: true', 'throw'],
  [
    "ban: { after: 3, within: '10m', for: '1h' }",
    'blockDuration continueExceeding exponentialBackoff inMemoryBlockOnConsumed',
  ],
  ['observers: [{ decided(key, decision) { … } }]', 'onLimited onExceeding onExceeded onBanReach logger'],
  ["trust: { ranges: ['10.0.0.0/8'] }", 'trustProxy trustedProxies proxy proxies'],
]

const DELAYS = 'no delays: slowDown({ after: 50, window, delayMs, maxDelayMs }) delays requests'
const PROPERTY = 'no name of a property, because it is always sluice'
/** Options of other limiters without a counterpart, and what to do. */
const OMITTED: Readonly<Record<string, string>> = {
  delayAfter: DELAYS,
  delayMs: DELAYS,
  maxDelayMs: DELAYS,
  retryAfter: 'no retryAfter, because Retry-After is the first second at which the request is allowed',
  requestStorePropertyName: PROPERTY,
  useClass: 'inject: [Class] and useFactory: (one) => …',
  useExisting: 'inject: [Class] and useFactory: (one) => …',
  validate: 'no validate, because invalid options always throw',
  hook: "no hook: mount the limiter where it should run, as in app.addHook('preHandler', rateLimit({ … }))",
  requestPropertyName: PROPERTY,
  global: 'no global: omit rateLimit here, and set it on the routes',
  algorithm: 'no algorithm, because only rate limits have one',
  window: 'no window, because only rate limits have one',
}

/** Other places for options: a phrase such as `in rateLimit: { … }`, and the names of the options. */
export type OptionPlaces = Readonly<Record<string, readonly string[]>>

/** Returns what to write instead of the unknown option `name`, or undefined if nothing is similar. */
export function hintFor(
  name: string,
  value: unknown,
  known: readonly string[],
  places: OptionPlaces = {},
): string | undefined {
  const all: (readonly [phrase: string, names: readonly string[]])[] = [['', known], ...Object.entries(places)]
  const at = (phrase: string, what: string): string => (phrase ? `${what} ${phrase}` : what)
  for (const [phrase, names] of all) if (names.includes(name)) return at(phrase, name)
  for (const [phrase, names] of all) {
    const example = counterpartOf(name, value, names)
    if (example) return at(phrase, example)
  }
  if (Object.hasOwn(OMITTED, name)) return OMITTED[name]
  for (const [phrase, names] of all) {
    const similar = similarOf(name, names)
    if (similar) return at(phrase, similar)
  }
  return undefined
}

/** Returns the name among `known` that a reader probably meant: the counterpart of `name`, or a similar name. */
export function meantBy(name: string, known: readonly string[]): string | undefined {
  return counterpartOf(name, undefined, known)?.split(':')[0] ?? similarOf(name, known)
}

function counterpartOf(name: string, value: unknown, known: readonly string[]): string | undefined {
  const isKnown = ([example]: readonly [string, string]): boolean => known.includes(example.split(':')[0])
  const rows = COUNTERPARTS.filter(isKnown)
  const spelt = typeof value === 'string' || typeof value === 'boolean' ? [`${name}=${value}`, name] : [name]
  for (const one of spelt) {
    const row = rows.find(([, names]) => names.split(' ').includes(one))
    if (row) return row[0]
  }
  return undefined
}

/** Returns the name that differs in the fewest characters, at most two and a third of them, or undefined. */
export function similarOf(name: string, names: readonly string[]): string | undefined {
  // longer names are not compared, because the time grows with the square of the length
  if (name.length > 40) return undefined
  const most = Math.min(2, Math.ceil(name.length / 3))
  const near = names.map((one) => [distance(name.toLowerCase(), one.toLowerCase()), one] as const)
  const [best] = near.filter(([far]) => far <= most).sort(([one], [other]) => one - other)
  return best?.[1]
}

/** Number of characters to insert, delete, replace or swap with their neighbour. */
function distance(from: string, to: string): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let line = 1; line <= from.length; line++) {
    const next = [line]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[line - 1] === to[column - 1]
      const isSwapped = from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1]
      next[column] = Math.min(
        row[column] + 1,
        next[column - 1] + 1,
        row[column - 1] + (isSame ? 0 : 1),
        isSwapped ? before[column - 2] + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = row
    row = next
  }
  return row[to.length]
}
