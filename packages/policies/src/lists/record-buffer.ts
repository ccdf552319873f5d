/** Records in each piece of memory. */
const PIECE_RECORDS = 2 ** 16

/**
 * A growing list of records of `width` 32-bit words. It grows in pieces, because copying millions of records would block
 * the event loop.
 */
export class RecordBuffer {
  readonly width: number
  readonly #pieces: Uint32Array[] = []
  #size = 0

  constructor(width: number) {
    this.width = width
  }

  /** Number of records. */
  get size(): number {
    return this.#size
  }

  /** Adds a record, and returns the array and the index at which its words begin. */
  add(): { readonly words: Uint32Array; readonly at: number } {
    const inPiece = this.#size++ % PIECE_RECORDS
    if (inPiece === 0) this.#pieces.push(new Uint32Array(PIECE_RECORDS * this.width))
    return { words: this.#pieces[this.#pieces.length - 1], at: inPiece * this.width }
  }

  /** Removes and returns the pieces in order; the last one is not full. */
  *take(): Generator<Uint32Array> {
    let left = this.#size
    for (let piece = this.#pieces.shift(); piece; piece = this.#pieces.shift()) {
      yield left < PIECE_RECORDS ? piece.subarray(0, left * this.width) : piece
      left -= PIECE_RECORDS
    }
    this.#size = 0
  }
}
