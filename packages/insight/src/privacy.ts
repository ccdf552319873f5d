import { createHmac } from 'node:crypto'
import { boundedText } from './bounded-text.ts'

/**
 * How keys are shown: `full`, as they are; `mask`, addresses without their last part and of other keys the first four
 * characters; `hash`, the same text for the same key while the fleet has the same secret.
 */
export type Privacy = 'full' | 'mask' | 'hash'

export const PRIVACIES: readonly Privacy[] = ['full', 'mask', 'hash']

/** Characters of a masked key that are shown. */
const SHOWN = 4
const HASHED = 12
const IPV4 = /^(\d{1,3}\.\d{1,3}\.\d{1,3}\.)\d{1,3}$/
const IPV6 = /^[\da-f:]*:[\da-f:]*(?:\/\d+)?$/i

/** Shows keys as `privacy` says, everywhere alike. */
export function keyMask(privacy: Privacy, secret: string): (key: string) => string {
  if (privacy === 'full') return boundedText
  return privacy === 'mask' ? masked : (key) => hashed(key, secret)
}

function masked(key: string): string {
  const [, network] = IPV4.exec(key) ?? []
  if (network !== undefined) return `${network}x`
  if (IPV6.test(key)) return `${key.split(':').slice(0, 3).join(':')}:x`
  // of a short key four characters would be all of it
  const shown = Math.min(SHOWN, Math.floor(key.length / 2))
  return `${boundedText(key.slice(0, shown))}…`
}

function hashed(key: string, secret: string): string {
  return createHmac('sha256', secret).update(Buffer.from(key, 'utf16le')).digest('base64url').slice(0, HASHED)
}
