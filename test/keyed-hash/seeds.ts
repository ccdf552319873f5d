import { createHash } from 'node:crypto'

/** Another draw of every seed below: SLUICE_SEED=… in the environment. Claims name the seed that broke them. */
export const baseSeed: string = process.env.SLUICE_SEED ?? 'keyed-hash'

/** The n-th seed, of 16 bytes. */
export function seedAt(n: number): Uint8Array {
  return createHash('md5').update(`${baseSeed} ${n}`).digest()
}

/** Seeded 32-bit numbers, uniform enough to draw keys with. */
export function randomWords(n: number): () => number {
  let block = Buffer.alloc(0)
  let blocks = 0
  let at = 0
  return () => {
    if (at === block.length) {
      block = createHash('sha512').update(`${baseSeed} ${n} ${blocks++}`).digest()
      at = 0
    }
    at += 4
    return block.readUInt32LE(at - 4)
  }
}
