import type { Policy } from '@sluice/http'

/** Data of a denial: `_meta` of the tool result, or `data` of the JSON-RPC error. */
export interface CallDenial {
  /** Name of the policy or cap that denied the call. */
  readonly policy: string
  /** Units per window, or concurrent calls. Undefined if it is not known. */
  readonly limit?: number | undefined
  /** Units that are left. */
  readonly remaining: number
  /** Milliseconds after which the same call may succeed. Missing if it can never succeed. */
  readonly retryAfterMs?: number | undefined
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
  [1, 'millisecond'],
] as const

/** Tool names as the specification recommends them. Other names are not repeated in a text that models read. */
const TOOL_NAME = /^[\w./-]{1,128}$/

/** Names of policies and caps without a name. */
const UNNAMED: readonly string[] = ['default', 'inflight']

/** Returns the text of a denial by a rate limit. */
export function rateText(what: string, policy: Policy, retryAfterMs: number): string {
  const { name, limit, unit, windowMs, calendar } = policy
  const units = unit === undefined ? String(limit) : `${limit} ${unit}`
  return `Rate limit${named(name)} exceeded for ${what}: ${units} per ${calendar?.per ?? windowText(windowMs)}. ${retryText(retryAfterMs)}`
}

/** Returns the text of a denial by a cap. */
export function capText(what: string, { policy, limit }: CallDenial, retryAfterMs: number): string {
  const most = limit === undefined ? '' : `: at most ${limit} at a time`
  return `Limit of concurrent calls${named(policy)} reached for ${what}${most}. ${retryText(retryAfterMs)}`
}

/** Describes what was called: `tool 'search'`, or `prompts/get`. */
export function subjectOf({ method, tool }: { readonly method: string; readonly tool: string }): string {
  if (method !== 'tools/call') return method
  return TOOL_NAME.test(tool) ? `tool '${tool}'` : 'this tool'
}

function named(policy: string): string {
  return UNNAMED.includes(policy) ? '' : ` '${policy}'`
}

function retryText(retryAfterMs: number): string {
  if (!Number.isFinite(retryAfterMs)) return 'The same call can never succeed, so do not repeat it.'
  return `Try again in ${waitText(retryAfterMs)}.`
}

/** Rounds up, so that a client that waits as long is not denied again. */
function waitText(ms: number): string {
  const [size, unit] = ms <= 120_000 ? UNITS[3] : ms <= 7_200_000 ? UNITS[2] : UNITS[1]
  const count = Math.max(1, Math.ceil(ms / size))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function windowText(ms: number): string {
  const [size, unit] = UNITS.find(([each]) => ms % each === 0) ?? UNITS[4]
  return ms === size ? unit : `${ms / size} ${unit}s`
}
