/**
 * Options whose string values may appear in messages, because they are words, names, numbers or durations. The string
 * value of any other option may be a secret (a password, a seed, a URL, a client key), so messages contain only its
 * length.
 */
const PRINTABLE_OPTIONS: ReadonlySet<string> = new Set([
  ...['limit', 'burst', 'slices', 'after', 'status', 'share', 'fraction'],
  ...['maxBytes', 'maxWaiting', 'maxBatch', 'maxUnsent', 'ipv6Prefix', 'embeddedIPv4Prefixes', 'blocksPerLevel'],
  ...['window', 'unit', 'keep', 'ttl', 'ttlMs', 'leaseMs', 'tickMs', 'closeMs', 'retainMs', 'refreshMs'],
  ...['deadlineMs', 'delayMs', 'maxDelayMs', 'maxHoldMs', 'maxWaitMs'],
  ...['per', 'timeZone', 'anchor', 'carryOver'],
  ...['algorithm', 'mode', 'SLUICE_MODE', 'headers', 'headersOn', 'reset', 'phase', 'plan'],
  ...['holdUntil', 'missing', 'onBackendError', 'onError', 'settleOn', 'others', 'countOnly', 'retry', 'name'],
])

/** Names and durations are shorter than this, and most secrets are longer. */
const MAX_PRINTED_LENGTH = 32
/** Matches URLs, which may contain a password. */
const URL_OR_LOGIN = /@|:\/\//

/**
 * Describes a received value for an error message, short and without secrets. A string is quoted only if the last word
 * of `option` is an option that cannot contain a secret, and a number is not shown if it may be a client key.
 */
export function shown(value: unknown, option = ''): string {
  if (typeof value === 'string') return isPrintable(value, option) ? JSON.stringify(value) : kindOf(value)
  return typeof value === 'number' && !/(?:key|backend)$/.test(option) ? String(value) : kindOf(value)
}

/** Describes the type of a value for an error message, without the value itself. */
export function kindOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN' : 'a number'
  if (typeof value === 'boolean' || value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return `an array of length ${value.length}`
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function isPrintable(text: string, option: string): boolean {
  const [, lastWord] = /(\w+)\W*$/.exec(option) ?? []
  return PRINTABLE_OPTIONS.has(lastWord) && text.length <= MAX_PRINTED_LENGTH && !URL_OR_LOGIN.test(text)
}
