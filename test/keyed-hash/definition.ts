import { createCipheriv, createHash } from 'node:crypto'

/**
 * A second implementation of the hash, written directly from its definition: slow, and without any code of the package.
 */
export function definedHash(seed: Uint8Array, key: string): { low: number; high: number } {
  const words = drawnWords(seed)
  const packed = [...key].every((character) => character <= 'ÿ')
  const codes = Array.from({ length: key.length }, (_, i) => key.charCodeAt(i))
  const blocks = chunked(codes, packed ? 512 : 256)
  const lanes = blocks.map((block) => {
    const units = packed ? chunked(block, 2).map(([low = 0, high = 0]) => low + 256 * high) : block
    const shape = 2 * block.length + (packed ? 0 : 1)
    return sums(words.start, [words.block, [shape, ...units]])
  })
  if (blocks.length === 1) return scatteredPair(digest(lanes[0]))
  const shape = 2 * key.length + (packed ? 0 : 1)
  const finish = [words.shapeLow, [shape % 65536]] as const
  const finishMore = [words.shapeRest, [Math.floor(shape / 65536)]] as const
  let units = lanes.flatMap((block) => units64(scatteredPair(digest(block))))
  for (const level of words.levels) {
    if (units.length <= 256) return scatteredPair(digest(sums(words.start, [level, units], finish, finishMore)))
    units = chunked(units, 256).flatMap((block) => units64(pair(digest(sums([0, 0, 0, 0], [level, block])))))
  }
  throw new Error('longer than the tree')
}

/** Defines the hash of a safe integer: its 64 bits are four units, after the shape 65,535. */
export function definedIntegerHash(seed: Uint8Array, key: number): { low: number; high: number } {
  const { start, block } = drawnWords(seed)
  const bits = BigInt.asUintN(64, BigInt(key))
  const units = [0n, 16n, 32n, 48n].map((shift) => Number((bits >> shift) & 0xffffn))
  return scatteredPair(digest(sums(start, [block, [0xffff, ...units]])))
}

type Term = readonly [words: readonly number[], units: readonly number[]]

function sums(start: readonly number[], ...terms: readonly Term[]): bigint[] {
  return start.map((constant, lane) =>
    terms.reduce(
      (sum, [words, units]) => units.reduce((lanes, unit, i) => lanes + BigInt(words[i + lane]) * BigInt(unit), sum),
      BigInt(constant),
    ),
  )
}

/** Returns the high 16 of the low 32 bits of each lane. */
function digest(lanes: readonly bigint[]): number[] {
  return lanes.map((lane) => Number(BigInt.asUintN(32, lane) >> 16n))
}

function pair([a, b, c, d]: readonly number[]): { low: number; high: number } {
  return { low: a | (b << 16), high: c | (d << 16) }
}

function scatteredPair(lanes: readonly number[]): { low: number; high: number } {
  const { low, high } = pair(lanes)
  return { low: scattered(low), high: scattered(high) }
}

function scattered(word: number): number {
  let x = word
  for (const [shift, factor] of [
    [16, 0x7feb352d],
    [15, 0x846ca68b],
    [16, 1],
  ]) {
    x = Math.imul(x ^ (x >>> shift), factor)
  }
  return x
}

function units64({ low, high }: { low: number; high: number }): number[] {
  return [low & 0xffff, low >>> 16, high & 0xffff, high >>> 16]
}

function chunked(items: readonly number[], size: number): number[][] {
  const count = Math.max(1, Math.ceil(items.length / size))
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size))
}

function drawnWords(seed: Uint8Array) {
  const key = createHash('sha256').update('@sluice/keyed-hash 1\0').update(seed).digest()
  const stream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(4 * (4 + 260 + 8 + 4 * 259)))
  const words = Array.from({ length: stream.length / 4 }, (_, i) => stream.readUInt32LE(4 * i))
  const take = (count: number) => words.splice(0, count)
  return {
    start: take(4),
    block: take(260),
    shapeLow: take(4),
    shapeRest: take(4),
    levels: [take(259), take(259), take(259), take(259)],
  }
}
