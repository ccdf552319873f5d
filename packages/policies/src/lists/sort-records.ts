import type { RecordBuffer } from './record-buffer.ts'
import { type Steps, touched } from './steps.ts'

const DIGIT_BITS = 16
const DIGITS = 2 ** DIGIT_BITS
/** Records that a step moves, in about a millisecond. */
const STEP_RECORDS = 2 ** 15

/**
 * Returns the words of all records, sorted by their words from the first to the last, as unsigned numbers. Empties the
 * buffer. A radix sort: its steps are short, while the sort of a typed array would block the event loop for all of it.
 */
export function* sortedRecords(buffer: RecordBuffer): Steps<Uint32Array> {
  const { width } = buffer
  let from = new Uint32Array(buffer.size * width)
  let at = 0
  for (const piece of buffer.take()) {
    from.set(piece, at)
    at += piece.length
    yield
  }
  let to = yield* touched(new Uint32Array(from.length))
  for (let word = width - 1; word >= 0; word--) {
    for (const shift of [0, DIGIT_BITS]) {
      const starts = yield* digitStarts(from, { width, word, shift })
      if (starts === undefined) continue
      yield* scatter(from, to, starts, { width, word, shift })
      ;[from, to] = [to, from]
    }
  }
  return from
}

/** The digit by which records are sorted: 16 bits of a word. */
interface Digit {
  readonly width: number
  readonly word: number
  readonly shift: number
}

/** Returns the index at which the records of each digit begin; undefined if all records have the same digit. */
function* digitStarts(from: Uint32Array, { width, word, shift }: Digit): Steps<Uint32Array | undefined> {
  const starts = new Uint32Array(DIGITS)
  for (let base = 0; base < from.length; base += STEP_RECORDS * width) {
    const end = Math.min(from.length, base + STEP_RECORDS * width)
    for (let at = base + word; at < end; at += width) starts[(from[at] >>> shift) & 0xffff]++
    yield
  }
  if (from.length === 0 || starts[(from[word] >>> shift) & 0xffff] * width === from.length) return undefined
  let sum = 0
  for (let digit = 0; digit < DIGITS; digit++) {
    const count = starts[digit]
    starts[digit] = sum
    sum += count
  }
  return starts
}

function* scatter(
  from: Uint32Array,
  to: Uint32Array,
  starts: Uint32Array,
  { width, word, shift }: Digit,
): Steps<undefined> {
  for (let base = 0; base < from.length; base += STEP_RECORDS * width) {
    const end = Math.min(from.length, base + STEP_RECORDS * width)
    for (let at = base; at < end; at += width) {
      let target = starts[(from[at + word] >>> shift) & 0xffff]++ * width
      for (let each = at; each < at + width; each++) to[target++] = from[each]
    }
    yield
  }
  return undefined
}
