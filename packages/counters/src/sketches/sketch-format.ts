import { afterThisTurn } from '@sluice/limiter-core/backend'
import { type Sketch, SketchError } from '@sluice/sketches'
import type { StoredSketchKind } from '../ledger/sketch-table.ts'
import { packed, unpacked } from './packed-bytes.ts'

/** Creates and reads the sketches of one name, all with the same parameters, so that they can be merged. */
export interface SketchFormat<Kind extends Sketch<Kind>, Value> {
  /** Compression strategy of zlib that suits the bytes best. */
  readonly strategy: number
  make(): Kind
  /** Throws `SLUICE_BAD_BYTES` and `SLUICE_SKETCH_MISMATCH`. */
  fromBytes(bytes: Uint8Array): Kind
  toBytes(sketch: Kind): Uint8Array
  /** Adds a value. Throws for a value that cannot be counted; the sketch is unchanged then. */
  count(sketch: Kind, value: Value): void
}

/** Format that a process was configured with, before it knows the format in the ledger. */
export interface FormatClaim<Kind extends Sketch<Kind>, Value> {
  readonly kind: StoredSketchKind
  /** JSON that the ledger stores if it has no format yet. */
  readonly json: string
  /**
   * Returns the format that the ledger has. Throws `SLUICE_SKETCH_MISMATCH` if this process was configured with another
   * one.
   */
  readonly resolve: (kept: StoredFormat) => SketchFormat<Kind, Value>
}

/** Format stored in the ledger, written by any process. */
export type StoredFormat = Readonly<Record<string, unknown>>

/** Number of rows merged before other work may run: with rows of 16 KiB, they take about a millisecond. */
const ROWS_OF_TURN = 10

/** Returns the bytes of a row. */
export function storedBytes<Kind extends Sketch<Kind>, Value>(
  format: SketchFormat<Kind, Value>,
  sketch: Kind,
): Uint8Array {
  return packed(format.toBytes(sketch), format.strategy)
}

/** Returns a new sketch with the contents of all rows. Rejects with `SLUICE_BAD_BYTES` and `SLUICE_SKETCH_MISMATCH`. */
export async function mergedRows<Kind extends Sketch<Kind>, Value>(
  format: SketchFormat<Kind, Value>,
  rows: readonly { readonly bytes: Uint8Array }[],
): Promise<Kind> {
  const [first, ...others] = rows
  const empty = format.make()
  if (!first) return empty
  // merges into the first row, not into an empty sketch: a digest alternates the direction in which it merges, and
  // medians would drift if each merge started in the same direction
  const merged = format.fromBytes(unpacked(first.bytes))
  // rejects a row of another shape, even if it is the only row
  empty.merge(merged)
  for (const [index, { bytes }] of others.entries()) {
    merged.merge(format.fromBytes(unpacked(bytes)))
    if (index % ROWS_OF_TURN === ROWS_OF_TURN - 1) await new Promise<void>(afterThisTurn)
  }
  return merged
}

/** Parses a stored format. Throws `SLUICE_BAD_BYTES` if it is not a JSON object. */
export function keptFormat(text: string): StoredFormat {
  try {
    return { ...JSON.parse(text) }
  } catch {
    throw new SketchError('SLUICE_BAD_BYTES', 'expected the format of stored sketches as JSON, received another string')
  }
}
