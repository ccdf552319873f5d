import { createHash, createHmac, randomBytes } from 'node:crypto'
import { SketchSeed } from '@sluice/sketches'
import { boundedText } from '../bounded-text.ts'
import { keyMask, type Privacy } from '../privacy.ts'
import type { KeyNames } from './report/top-keys.ts'

/** Hexadecimal digits, because an id is an argument of a command and must not begin with a dash. */
const ID_DIGITS = 24

export interface KeyNameOptions {
  readonly privacy: Privacy
  /** Secret shared by all processes; undefined if none was configured. */
  readonly secret: string | undefined
  /** Whether the names are sent to other processes. */
  readonly shared: boolean
}

/**
 * Returns the displayed name and the id of keys. Full and hashed keys are their own id. The id of a masked key is a
 * digest under the secret. Without a shared secret, only the mask may leave the process, so keys with equal masks are
 * merged.
 */
export function keyNames({ privacy, secret, shared }: KeyNameOptions): KeyNames {
  const key = secret ?? randomBytes(32).toString('base64url')
  const mask = keyMask(privacy, key)
  const shown = (name: string): string => boundedText(mask(name))
  if (privacy !== 'mask' || (shared && secret === undefined)) return { shown, id: shown }
  const id = (name: string): string =>
    createHmac('sha256', key).update(Buffer.from(name, 'utf16le')).digest('hex').slice(0, ID_DIGITS)
  return { shown, id }
}

/**
 * Returns the seed for sketches of unique keys, identical in all processes with the same secret or, without a secret,
 * the same topic.
 */
export function sketchSeed(secret: string | undefined, topic: string | undefined): SketchSeed {
  if (secret === undefined && topic === undefined) return new SketchSeed(randomBytes(32))
  const hash = createHash('sha256').update(`@sluice/insight uniques\0${secret ?? topic}`)
  return new SketchSeed(hash.digest())
}
