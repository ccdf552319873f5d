import { createHash } from 'node:crypto'

/** Set SLUICE_SEED=… in the environment to change all seeds below. Failed claims report their seed. */
export const baseSeed: string = process.env.SLUICE_SEED ?? 'keyed-hash'

/** Returns the n-th seed of 16 bytes. */
export function seedAt(n: number): Uint8Array {
  return createHash('md5').update(`${baseSeed} ${n}`).digest()
}

/** Seeded 32-bit numbers, uniform enough to draw keys from. */
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
