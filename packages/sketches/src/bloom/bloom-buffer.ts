import { HEADER_BYTES, SketchBuffer, type SketchKind } from '../sketch-buffer.ts'
import { SketchError } from '../sketch-error.ts'
import { type SeedOption, type SketchSeed, seedOf } from '../sketch-seed.ts'
import { type BloomOptions, bloomTerms, MAX_CAPACITY } from './bloom-options.ts'
import { type BloomShape, LINE_CELLS, MAX_BYTES, MAX_HASHES } from './bloom-shape.ts'

/** The kind of filter in a buffer. */
interface BloomKind {
  readonly kind: SketchKind
  /** Name in error messages. */
  readonly owner: string
  /** 1, or 4 where cells are counters. */
  readonly bitsACell: number
}

/**
 * The data of a new or restored filter: a header with its shape (lines of 512 cells, cells per key, capacity) and its
 * cells. It also serves as the options of a restored filter.
 */
export class BloomBuffer implements BloomOptions {
  readonly kept: SketchBuffer
  readonly seed: SketchSeed
  readonly words: Uint32Array
  readonly capacity: number
  readonly hashes: number
  readonly cells: number

  private constructor(kept: SketchBuffer, seed: SketchSeed) {
    this.kept = kept
    this.seed = seed
    this.words = new Uint32Array(kept.buffer, HEADER_BYTES)
    this.cells = kept.shape(0) * LINE_CELLS
    this.hashes = kept.shape(1)
    this.capacity = kept.shape(2)
  }

  /** Throws `SLUICE_BAD_OPTION`, also where it would keep more than 512 MiB, and `SLUICE_BAD_SEED`. */
  static create(
    { kind, owner, bitsACell }: BloomKind,
    options: BloomOptions,
    shapeOf: (capacity: number, rate: number) => BloomShape,
  ): BloomBuffer {
    const { capacity, rate, seed } = bloomTerms(owner, options)
    const { cells, hashes } = shapeOf(capacity, rate)
    const bytes = (cells * bitsACell) / 8
    if (bytes > MAX_BYTES) {
      const received = `${capacity} keys at a rate of ${rate}, which take ${bytes} bytes`
      throw new SketchError(
        'SLUICE_BAD_OPTION',
        `${owner}: expected a filter of at most ${MAX_BYTES} bytes, received ${received}`,
      )
    }
    const shape = [cells / LINE_CELLS, hashes, capacity]
    return new BloomBuffer(SketchBuffer.create(kind, bytes, { seed, shape }), seed)
  }

  /** Throws `SLUICE_BAD_BYTES`, `SLUICE_SKETCH_MISMATCH` and `SLUICE_BAD_SEED`. */
  static read({ kind, bitsACell }: BloomKind, bytes: Uint8Array, options: SeedOption): BloomBuffer {
    const seed = seedOf(options)
    const keptBytes = ([lines, hashes, capacity, rest]: readonly number[]): number | undefined => {
      const kept = (lines * LINE_CELLS * bitsACell) / 8
      const right = kept > 0 && kept <= MAX_BYTES && hashes >= 1 && hashes <= MAX_HASHES
      return right && capacity >= 1 && capacity <= MAX_CAPACITY && rest === 0 ? kept : undefined
    }
    return new BloomBuffer(SketchBuffer.read(kind, bytes, keptBytes, seed), seed)
  }
}
