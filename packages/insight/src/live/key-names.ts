import { createHash, createHmac, randomBytes } from 'node:crypto'
import { SketchSeed } from '@sluice/sketches'
import { boundedText } from '../bounded-text.ts'
import { keyMask, type Privacy } from '../privacy.ts'
import type { KeyNames } from './top-keys.ts'

const ID_CHARACTERS = 16

export interface KeyNameOptions {
  readonly privacy: Privacy
  /** The same in all processes; undefined where none was given. */
  readonly secret: string | undefined
  /** The names leave this process. */
  readonly shared: boolean
}

/**
 * How keys leave a process. Where keys are shown as they are, or hashed, that is their id as well. A masked one is known
 * by a digest under the secret; without a secret that all processes have nothing but its mask may leave this one, and
 * keys that look alike are one.
 */
export function keyNames({ privacy, secret, shared }: KeyNameOptions): KeyNames {
  const key = secret ?? randomBytes(32).toString('base64url')
  const mask = keyMask(privacy, key)
  const shown = (name: string): string => boundedText(mask(name))
  if (privacy !== 'mask' || (shared && secret === undefined)) return { shown, id: shown }
  const id = (name: string): string =>
    createHmac('sha256', key).update(Buffer.from(name, 'utf16le')).digest('base64url').slice(0, ID_CHARACTERS)
  return { shown, id }
}

/** For the sketches of unique keys: the same in all processes that share a secret, or else a topic. */
export function sketchSeed(secret: string | undefined, topic: string | undefined): SketchSeed {
  if (secret === undefined && topic === undefined) return new SketchSeed(randomBytes(32))
  const hash = createHash('sha256').update(`@sluice/insight uniques\0${secret ?? topic}`)
  return new SketchSeed(hash.digest())
}
