import { createHmac } from 'node:crypto'
import { boundedText } from './bounded-text.ts'

/**
 * How keys are displayed:
 * - `full`: unchanged.
 * - `mask`: IP addresses without their host part; other keys as their first four characters, at most half of the key.
 * - `hash`: a keyed hash, identical for the same key in all processes that share a secret.
 */
export type Privacy = 'full' | 'mask' | 'hash'

export const PRIVACIES: readonly Privacy[] = ['full', 'mask', 'hash']

/** Number of visible characters of a masked key. */
const SHOWN = 4
/** Number of hexadecimal digits of a hashed key: an argument of a command must not begin with a dash. */
const HASHED = 16
const IPV4 = /^(\d{1,3}\.\d{1,3}\.\d{1,3}\.)\d{1,3}$/
const IPV6 = /^[\da-f:]*:[\da-f:]*(?:\/\d+)?$/i

/** Returns the function that formats keys for the given privacy level. */
export function keyMask(privacy: Privacy, secret: string): (key: string) => string {
  if (privacy === 'full') return boundedText
  return privacy === 'mask' ? masked : (key) => hashed(key, secret)
}

function masked(key: string): string {
  const [, network] = IPV4.exec(key) ?? []
  if (network !== undefined) return `${network}x`
  if (IPV6.test(key)) return `${key.split(':').slice(0, 3).join(':')}:x`
  // show at most half of a short key
  const shown = Math.min(SHOWN, Math.floor(key.length / 2))
  return `${boundedText(key.slice(0, shown))}…`
}

function hashed(key: string, secret: string): string {
  return createHmac('sha256', secret).update(Buffer.from(key, 'utf16le')).digest('hex').slice(0, HASHED)
}
