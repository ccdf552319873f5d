/** Registers of Redis's HyperLogLog. */
export const REGISTERS = 16_384
/** Largest rank of the sparse encoding. */
export const MAX_SPARSE_RANK = 32

/** XZERO of all registers. */
const ALL_ZERO = Uint8Array.of(0x7f, 0xff)
const LONGEST_ZERO = 64
const LONGEST_VAL = 4
/** Redis checks this many runs, starting before the changed one, for two that can be merged. */
const LOOKED_AT = 5

/**
 * The sparse form of Redis's HyperLogLog: runs that cover all registers in order.
 *
 *     00nnnnnn           ZERO    1 to 64 registers at 0
 *     01nnnnnn nnnnnnnn  XZERO   1 to 16,384 registers at 0
 *     1vvvvvnn           VAL     1 to 4 registers at 1 to 32
 *
 * Which of the many forms of the same registers it is depends on the order in which they were set. Runs are cut and
 * joined exactly as Redis 7 does it.
 */
export class SparseRuns {
  #bytes: Uint8Array
  #length: number
  // a run and its first register, where a walk to a later register may begin
  #nearAt = 0
  #nearFirst = 0

  /** All registers at 0, unless `runs` are given, which must be proved. */
  constructor(runs: Uint8Array = ALL_ZERO) {
    // copied by the constructor: `slice` of a Buffer copies nothing
    this.#bytes = new Uint8Array(runs)
    this.#length = runs.length
  }

  /** Length in bytes. */
  get length(): number {
    return this.#length
  }

  writeTo(target: Uint8Array, at: number): void {
    target.set(this.#bytes.subarray(0, this.#length), at)
  }

  /** Sets a register that holds less to `rank`. False, and nothing is changed, where it would grow beyond `mostBytes`. */
  set(register: number, rank: number, mostBytes: number): boolean {
    const fits = this.#setFrom(this.#nearAt, this.#nearFirst, register, rank, mostBytes)
    return fits ?? (this.#setFrom(0, 0, register, rank, mostBytes) as boolean)
  }

  /** Undefined where the register does not lie behind the run at `at`, unless that is the first one. */
  #setFrom(at: number, first: number, register: number, rank: number, mostBytes: number): boolean | undefined {
    const bytes = this.#bytes
    if (register < first) return undefined
    let before = at
    let beforeFirst = first
    let span = spanAt(bytes, at)
    while (register >= first + span) {
      before = at
      beforeFirst = first
      at += widthAt(bytes, at)
      first += span
      span = spanAt(bytes, at)
    }
    // the run before is where joining begins
    if (before === at && at > 0) return undefined
    if (!this.#cut(at, register - first, rank, mostBytes)) return false
    this.#join(before)
    this.#nearAt = before
    this.#nearFirst = beforeFirst
    return true
  }

  /** Separates the register `offset` from the run at `at`. Returns false if the result would exceed `mostBytes`. */
  #cut(at: number, offset: number, rank: number, mostBytes: number): boolean {
    const whole = this.#bytes[at]
    const old = whole < 0x80 ? 0 : rankOf(whole)
    const rest = spanAt(this.#bytes, at) - offset - 1
    const width = widthAt(this.#bytes, at)
    const grown = widthOf(old, offset) + 1 + widthOf(old, rest) - width
    if (grown > 0 && this.#length + grown > mostBytes) return false
    this.#makeRoom(this.#length + grown)
    const bytes = this.#bytes
    if (grown !== 0) bytes.copyWithin(at + width + grown, at + width, this.#length)
    this.#length += grown
    const own = writeRun(bytes, at, old, offset)
    writeRun(bytes, writeRun(bytes, own, rank, 1), old, rest)
    return true
  }

  /** Joins neighbours of one rank, from the run at `at` on, as far as Redis looks. */
  #join(at: number): void {
    const bytes = this.#bytes
    for (let looks = LOOKED_AT; looks > 0 && at < this.#length; looks--) {
      const run = bytes[at]
      const span = (run & 3) + (bytes[at + 1] & 3) + 2
      const joins = run >= 0x80 && at + 1 < this.#length && run >> 2 === bytes[at + 1] >> 2 && span <= LONGEST_VAL
      if (!joins) {
        at += widthAt(bytes, at)
        continue
      }
      bytes.copyWithin(at, at + 1, this.#length)
      this.#length--
      writeRun(bytes, at, rankOf(run), span)
    }
  }

  #makeRoom(length: number): void {
    if (length <= this.#bytes.length) return
    const bytes = new Uint8Array(2 * length)
    bytes.set(this.#bytes)
    this.#bytes = bytes
  }
}

/** Whether the runs from `from` to the end of `bytes` cover exactly all registers. */
export function areRuns(bytes: Uint8Array, from: number): boolean {
  let registers = 0
  let at = from
  for (; at < bytes.length && registers < REGISTERS; at += widthAt(bytes, at)) registers += spanAt(bytes, at)
  return registers === REGISTERS && at === bytes.length
}

/** The rank of each register, from runs that are proved. */
export function readRuns(bytes: Uint8Array, from: number, registers: Uint8Array): void {
  let register = 0
  for (let at = from; at < bytes.length; at += widthAt(bytes, at)) {
    const span = spanAt(bytes, at)
    if (bytes[at] >= 0x80) registers.fill(rankOf(bytes[at]), register, register + span)
    register += span
  }
}

/** Registers of the run at `at`. */
function spanAt(bytes: Uint8Array, at: number): number {
  const run = bytes[at]
  if (run >= 0x80) return (run & 3) + 1
  return run < 0x40 ? run + 1 : (((run & 0x3f) << 8) | bytes[at + 1]) + 1
}

/** Bytes of the run at `at`. */
function widthAt(bytes: Uint8Array, at: number): number {
  return bytes[at] >> 6 === 1 ? 2 : 1
}

function rankOf(run: number): number {
  return ((run >> 2) & 31) + 1
}

/** Bytes of a run of so many registers. */
function widthOf(rank: number, span: number): number {
  if (span === 0) return 0
  return rank === 0 && span > LONGEST_ZERO ? 2 : 1
}

/** Writes a run at `at`, unless it has no registers, and returns its end. */
function writeRun(bytes: Uint8Array, at: number, rank: number, span: number): number {
  if (span === 0) return at
  if (rank > 0) bytes[at] = 0x80 | ((rank - 1) << 2) | (span - 1)
  else if (span <= LONGEST_ZERO) bytes[at] = span - 1
  else {
    bytes[at] = 0x40 | ((span - 1) >> 8)
    bytes[at + 1] = span - 1
  }
  return at + widthOf(rank, span)
}
