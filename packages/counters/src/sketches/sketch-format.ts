import { afterThisTurn } from '@sluice/limiter-core/backend'
import { type Sketch, SketchError } from '@sluice/sketches'
import type { StoredSketchKind } from '../ledger/sketch-table.ts'
import { packed, unpacked } from './packed-bytes.ts'

/** How the sketches of one name are made and read: all of them alike, so that they merge. */
export interface SketchFormat<Kind extends Sketch<Kind>, Value> {
  /** Of zlib: the one that packs its bytes best. */
  readonly strategy: number
  make(): Kind
  /** Throws `SLUICE_BAD_BYTES` and `SLUICE_SKETCH_MISMATCH`. */
  fromBytes(bytes: Uint8Array): Kind
  toBytes(sketch: Kind): Uint8Array
  /** Throws for a value that cannot be counted, and has counted nothing then. */
  count(sketch: Kind, value: Value): void
}

/** What a process was told of the sketches of its name, before it knows what the ledger has. */
export interface FormatClaim<Kind extends Sketch<Kind>, Value> {
  readonly kind: StoredSketchKind
  /** Text that the ledger keeps if it has none. */
  readonly text: string
  /** The format that `kept`, the text of the ledger, stands for. Throws `SLUICE_SKETCH_MISMATCH` where this process was told another one. */
  readonly agreed: (kept: KeptFormat) => SketchFormat<Kind, Value>
}

/** What the ledger keeps, whoever wrote it. */
export type KeptFormat = Readonly<Record<string, unknown>>

/** So many rows of 16 KiB take about a millisecond, in which nothing else runs. */
const ROWS_OF_TURN = 10

/** Bytes of a row. */
export function storedBytes<Kind extends Sketch<Kind>, Value>(
  format: SketchFormat<Kind, Value>,
  sketch: Kind,
): Uint8Array {
  return packed(format.toBytes(sketch), format.strategy)
}

/** A new sketch of all that the rows have. Rejects with `SLUICE_BAD_BYTES` and `SLUICE_SKETCH_MISMATCH`. */
export async function mergedRows<Kind extends Sketch<Kind>, Value>(
  format: SketchFormat<Kind, Value>,
  rows: readonly { readonly bytes: Uint8Array }[],
): Promise<Kind> {
  const [first, ...others] = rows
  const empty = format.make()
  if (!first) return empty
  // on top of the first one: a digest that was folded from below goes on from above, or medians would drift
  const merged = format.fromBytes(unpacked(first.bytes))
  // a row of another shape is refused, were it the only one
  empty.merge(merged)
  for (const [index, { bytes }] of others.entries()) {
    merged.merge(format.fromBytes(unpacked(bytes)))
    if (index % ROWS_OF_TURN === ROWS_OF_TURN - 1) await new Promise<void>(afterThisTurn)
  }
  return merged
}

/** Throws `SLUICE_BAD_BYTES` for a text that is no object in JSON. */
export function keptFormat(text: string): KeptFormat {
  try {
    return { ...JSON.parse(text) }
  } catch {
    throw new SketchError('SLUICE_BAD_BYTES', 'expected that of stored sketches, received a format that nothing wrote')
  }
}
