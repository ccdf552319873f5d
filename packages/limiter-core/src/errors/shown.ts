/**
 * The options of which a message shows the text that was got: words, names, numbers and durations. A text anywhere else
 * may be a secret in the wrong place, as a password, a seed, a url or the key of a client is: of it a message says how
 * long it is, and no more.
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

/** No name or duration is longer, and most secrets are. */
const LONGEST_SHOWN = 32
// as in a url with a password
const LIKE_A_LOGIN = /@|:\/\//

/** What was got for an option, for an error message: short, and safe to print whatever it is. */
export function shown(value: unknown, option = ''): string {
  if (typeof value === 'string') return isShown(value, option) ? JSON.stringify(value) : kindOf(value)
  const isPlain = typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null
  return isPlain ? String(value) : kindOf(value)
}

/** What kind of thing was got, where not even a number may be shown. */
export function kindOf(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN' : 'a number'
  if (typeof value === 'boolean' || value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** `option` as it stands in the message: its last word is its name. */
function isShown(text: string, option: string): boolean {
  const [, name] = /(\w+)\W*$/.exec(option) ?? []
  return TEXTS_SHOWN.has(name) && text.length <= LONGEST_SHOWN && !LIKE_A_LOGIN.test(text)
}
