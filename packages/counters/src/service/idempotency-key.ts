import type { IncomingMessage } from 'node:http'
import { SluiceError } from '@sluice/limiter-core/backend'

const NAME = 'idempotency-key'
// a String and a Display String of RFC 9651, sections 3.3.3 and 3.3.8
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
const DISPLAYED = /^%"((?:[\x20\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*)"$/
const BARE = /^[\x21\x23-\x7e]*$/
const ASCII = /^[\x20-\x7e]*$/

/**
 * Returns the idempotency token of a request, if it has one. The header may be quoted, bare, or a Display String with
 * any characters. Throws `SLUICE_BAD_TOKEN`.
 */
export function idempotencyKey({ rawHeaders, headers }: IncomingMessage): string | undefined {
  const value = headers[NAME]
  if (value === undefined) return undefined
  const times = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === NAME).length
  const token = times > 1 ? undefined : tokenIn(String(value))
  if (token !== undefined) return token
  throw new SluiceError('SLUICE_BAD_TOKEN', 'Idempotency-Key: expected one quoted string, received another value')
}

/** Returns the header value of a token. Throws `URIError` for a lone surrogate, which UTF-8 cannot encode. */
export function idempotencyKeyOf(token: string): string {
  if (ASCII.test(token)) return `"${token.replace(/["\\]/g, '\\$&')}"`
  return `%"${encodeURIComponent(token).replace(/%../g, (octet) => octet.toLowerCase())}"`
}

function tokenIn(value: string): string | undefined {
  const quoted = QUOTED.exec(value)
  if (quoted) return quoted[1].replace(/\\(.)/g, '$1')
  const displayed = DISPLAYED.exec(value)
  if (displayed) return displayedText(displayed[1])
  return BARE.test(value) && value !== '' ? value : undefined
}

function displayedText(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
