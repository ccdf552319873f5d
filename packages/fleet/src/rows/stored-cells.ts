import type { CompiledPolicy } from '@sluice/limiter-core/backend'

/** A part of the cells with its own layout. `isLog`: the number of used timestamps, then the timestamps. */
interface Piece {
  readonly at: number
  readonly size: number
  readonly isLog: boolean
  /** Maximum number of timestamps of a log. */
  readonly room: number
}

const piecesByPolicy = new WeakMap<CompiledPolicy, readonly Piece[]>()

/**
 * Returns cells as they are stored: without the unused places of logs. The stored form does not depend on limits, so a
 * count is kept when its limit changes.
 */
export function storedFrom(compiled: CompiledPolicy, cells: Float64Array): readonly number[] {
  const stored: number[] = []
  for (const { at, size, isLog } of piecesOf(compiled)) {
    const used = isLog ? 1 + cells[at] : size
    for (let cell = at; cell < at + used; cell++) stored.push(cells[cell])
  }
  return stored
}

/** Whether one policy can read the cells that another has stored. */
export function haveSameLayout(one: CompiledPolicy, other: CompiledPolicy): boolean {
  const [pieces, others] = [piecesOf(one), piecesOf(other)]
  if (pieces.length !== others.length) return false
  return pieces.every(
    ({ isLog, size }, index) => isLog === others[index].isLog && (isLog || size === others[index].size),
  )
}

/** Returns the cells of a policy from their stored form; undefined if another policy has stored them. */
export function cellsFrom(compiled: CompiledPolicy, stored: ArrayLike<number>): Float64Array | undefined {
  const cells = new Float64Array(compiled.cells)
  let from = 0
  for (const piece of piecesOf(compiled)) {
    const used = piece.isLog ? 1 + stored[from] : piece.size
    // false for a log without a length
    if (!(used >= 1 && from + used <= stored.length)) return undefined
    copyPiece(piece, cells, stored, from, used)
    from += used
  }
  return from === stored.length && cells.every(Number.isFinite) ? cells : undefined
}

function copyPiece(
  { at, isLog, room }: Piece,
  cells: Float64Array,
  stored: ArrayLike<number>,
  from: number,
  used: number,
): void {
  // a smaller log keeps the newest timestamps
  const kept = isLog ? Math.min(used - 1, room) : used
  if (isLog) cells[at] = kept
  const to = isLog ? at + 1 : at
  for (let index = 0; index < kept; index++) cells[to + index] = stored[from + used - kept + index]
}

function piecesOf(compiled: CompiledPolicy): readonly Piece[] {
  let pieces = piecesByPolicy.get(compiled)
  if (!pieces) {
    const { variants } = compiled
    pieces = variants
      ? variants.map((variant, index) =>
          pieceOf(variant.compiled, variant.at, variants[index + 1]?.at ?? compiled.cells),
        )
      : [pieceOf(compiled, 0, compiled.cells)]
    piecesByPolicy.set(compiled, pieces)
  }
  return pieces
}

function pieceOf({ room }: CompiledPolicy, at: number, end: number): Piece {
  return { at, size: end - at, isLog: room !== undefined, room: room ?? 0 }
}
