/**
 * Options whose string values may appear in messages: words, names, numbers and durations. Any other string may be a
 * secret (a password, a seed, a URL, a client key), so messages contain only its length.
 */
const TEXTS_SHOWN: ReadonlySet<string> = new Set([
  ...['limit', 'burst', 'slices', 'after', 'status', 'share', 'fraction'],
  ...['maxBytes', 'maxWaiting', 'maxBatch', 'maxUnsent', 'ipv6Prefix', 'embeddedIPv4Prefixes', 'blocksPerLevel'],
  ...['window', 'unit', 'keep', 'ttl', 'forMs', 'leaseMs', 'tickMs', 'closeMs', 'retainMs', 'everyMs'],
  ...['deadlineMs', 'delayMs', 'maxDelayMs', 'maxHoldMs', 'maxWaitMs'],
  ...['per', 'timeZone', 'anchor', 'carryOver'],
  ...['algorithm', 'mode', 'SLUICE_MODE', 'headers', 'headersOn', 'reset', 'phase', 'plan'],
  ...['holdUntil', 'missing', 'onBackendError', 'onError', 'settleOn', 'others', 'name'],
])

/** Names and durations are not longer, and most secrets are. */
const LONGEST_SHOWN = 32
// as in a url with a password
const LIKE_A_LOGIN = /@|:\/\//

/** Describes a received option value for an error message: short and safe to print. */
export function shown(value: unknown, option = ''): string {
  if (typeof value === 'string') return isShown(value, option) ? JSON.stringify(value) : kindOf(value)
  const isPlain = typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null
  return isPlain ? String(value) : kindOf(value)
}

/** Describes the kind of a value, without showing even numbers. */
export function kindOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN' : 'a number'
  if (typeof value === 'boolean' || value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The last word of `option` is the name that is looked up. */
function isShown(text: string, option: string): boolean {
  const [, name] = /(\w+)\W*$/.exec(option) ?? []
  return TEXTS_SHOWN.has(name) && text.length <= LONGEST_SHOWN && !LIKE_A_LOGIN.test(text)
}
