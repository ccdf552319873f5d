import type { RequestView } from '../contracts.ts'

const PREFLIGHT = '\0preflight:'

/**
 * Whether the request looks like a CORS preflight. Clients can forge all three conditions, and a handler that ignores
 * the method serves such a request like any other, so preflights must not be exempt from limits.
 */
export function isPreflight(view: RequestView): boolean {
  return (
    view.method === 'OPTIONS' &&
    view.header('origin') !== undefined &&
    view.header('access-control-request-method') !== undefined
  )
}

/**
 * Returns the key under which preflights of a client are counted. It cannot equal another key, because `resolveKey`
 * continues a key that starts with NUL with `address:` or a second NUL.
 */
export function preflightKey<Sign>(key: string | Sign): string | Sign {
  return typeof key === 'string' ? PREFLIGHT + key : key
}

/** Returns the client key of a preflight key; other keys are returned unchanged. */
export function clientKeyOf(key: string): string {
  return key.charCodeAt(0) === 0 && key.startsWith(PREFLIGHT) ? key.slice(PREFLIGHT.length) : key
}
