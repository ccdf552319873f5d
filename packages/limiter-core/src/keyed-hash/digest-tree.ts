import { imul, joinedSums } from './joined-sums.ts'
import { type KeyWords, LEVELS, UNITS_A_BLOCK } from './key-words.ts'

/**
 * Combines the block hashes of a long key. The 64 bits of each block are four units of the level above. Each level has
 * separate random words, so that a word never multiplies a value computed from the same word; a chain of blocks would
 * do that, and no collision bound is known for it. The first level that holds all units is the top: it adds the shape
 * of the whole key and is finished like a block.
 *
 *     key      ████ ████ ████ … ████ ██      blocks of 256 units
 *     level 0  ▪▪▪▪ ▪▪▪▪ ▪▪▪▪ … ▪▪▪▪ ▪▪▪▪    full after 64 digests
 *     level 1  ▪▪▪▪ ▪▪▪▪                     the top
 */
export class DigestTree {
  private readonly words: KeyWords
  private readonly levels: Level[]
  private top = 0

  constructor(words: KeyWords) {
    this.words = words
    this.levels = Array.from({ length: LEVELS }, () => ({ units: 0, sums: new Int32Array(4) }))
  }

  clear(): void {
    for (const level of this.levels) empty(level)
    this.top = 0
  }

  /** Adds the hash of the next block. */
  push(low: number, high: number): void {
    this.append(0, low, high)
  }

  /** Closes the levels below the top and writes the hash of the whole key to `result`. */
  finish(shape: number, result: { low: number; high: number }): void {
    for (let level = 0; level < this.top; level++) this.close(level)
    const { start, shape: words } = this.words
    const { sums } = this.levels[this.top]
    for (let index = 0; index < 4; index++) {
      sums[index] += start[index] + imul(words[index], shape & 0xffff)
      sums[index] += imul(words[4 + index], Math.floor(shape / 0x10000))
    }
    result.low = joinedSums(sums[0], sums[1])
    result.high = joinedSums(sums[2], sums[3])
  }

  private append(depth: number, low: number, high: number): void {
    const level = this.levels[depth]
    if (level.units === UNITS_A_BLOCK && depth + 1 < LEVELS) this.close(depth)
    const words = this.words.levels[depth]
    const at = level.units
    for (let index = 0; index < 4; index++) {
      level.sums[index] += imul(words[at + index], low & 0xffff) + imul(words[at + index + 1], low >>> 16)
      level.sums[index] += imul(words[at + index + 2], high & 0xffff) + imul(words[at + index + 3], high >>> 16)
    }
    level.units += 4
    if (depth > this.top) this.top = depth
  }

  private close(depth: number): void {
    const level = this.levels[depth]
    const [a, b, c, d] = level.sums
    empty(level)
    this.append(depth + 1, (a >>> 16) | (b & 0xffff0000), (c >>> 16) | (d & 0xffff0000))
  }
}

interface Level {
  units: number
  readonly sums: Int32Array
}

function empty(level: Level): void {
  level.units = 0
  level.sums.fill(0)
}
