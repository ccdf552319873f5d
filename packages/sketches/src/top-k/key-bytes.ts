import { SketchError } from '../sketch-error.ts'
import { CUT_KEY, WHOLE_KEY } from './kept-key.ts'

/** The most bytes that `writeKeys` needs for a key. */
export const MAX_KEY_BYTES: number = 4 + 2 * CUT_KEY

const WIDE = 0x8000_0000

/**
 * Encodes keys: a uint32 per key with its length in characters and whether they take two bytes; then all characters.
 * Latin1 takes one byte, others their UTF-16 units, which preserves lone surrogates.
 */
export function writeKeys(keys: readonly string[]): Buffer {
  const characters = keys.map((key) => Buffer.from(key, isLatin1(key) ? 'latin1' : 'utf16le'))
  const lengths = Buffer.alloc(4 * keys.length)
  keys.forEach((key, n) => {
    lengths.writeUInt32LE((key.length | (isLatin1(key) ? 0 : WIDE)) >>> 0, 4 * n)
  })
  return Buffer.concat([lengths, ...characters])
}

/** `count` keys that fill `list`, which has 4 bytes for each or more. Throws `SLUICE_BAD_BYTES`. */
export function readKeys(list: Buffer, count: number): string[] {
  const keys: string[] = []
  let from = 4 * count
  for (let n = 0; n < count; n++) {
    const word = list.readUInt32LE(4 * n)
    const wide = word >= WIDE
    const length = wide ? word - WIDE : word
    if (length > WHOLE_KEY && length !== CUT_KEY) {
      throw new SketchError('SLUICE_BAD_BYTES', `expected keys of at most ${WHOLE_KEY} characters, received ${length}`)
    }
    const to = from + (wide ? 2 * length : length)
    keys.push(list.toString(wide ? 'utf16le' : 'latin1', from, to))
    from = to
  }
  if (from === list.length) return keys
  throw new SketchError('SLUICE_BAD_BYTES', `expected ${from} bytes of keys, received ${list.length}`)
}

function isLatin1(key: string): boolean {
  for (let i = 0; i < key.length; i++) if (key.charCodeAt(i) > 0xff) return false
  return true
}
