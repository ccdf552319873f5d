import { isAscii } from 'node:buffer'

/** Bytes of the longest line that is read. */
export const LONGEST_LINE: number = 64 * 1024

const NEWLINE = 10
const CARRIAGE_RETURN = 13

/** Splits bytes into lines. Holds at most one unfinished line of `LONGEST_LINE` bytes. */
export class LineSplitter {
  /** Number of lines so far, including empty ones and the current one. */
  lines = 0
  #rest: Buffer = Buffer.alloc(0)
  /** Whether the current line is too long, and its remaining bytes are skipped. */
  #isSkipping = false
  readonly #each: (line: string) => void
  readonly #tooLong: (start: string) => void

  /** `each` receives each line that is not empty. `tooLong` receives the start of each longer one instead. */
  constructor(each: (line: string) => void, tooLong: (start: string) => void) {
    this.#each = each
    this.#tooLong = tooLong
  }

  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last < 0) {
      this.#keep(chunk)
      return
    }
    let from = 0
    if (this.#isSkipping || this.#rest.length > 0) {
      const first = chunk.indexOf(NEWLINE)
      this.#keep(chunk.subarray(0, first))
      this.#endLine()
      from = first + 1
    }
    this.#split(chunk.subarray(from, last + 1))
    this.#keep(chunk.subarray(last + 1))
  }

  /** Ends the last line. Returns whether it had no newline. */
  end(): boolean {
    const isUnfinished = this.#isSkipping || this.#rest.length > 0
    if (isUnfinished) this.#endLine()
    return isUnfinished
  }

  #endLine(): void {
    const rest = this.#rest
    this.#rest = Buffer.alloc(0)
    if (this.#isSkipping) this.#isSkipping = false
    else this.#split(Buffer.concat([rest, Buffer.of(NEWLINE)]))
  }

  #keep(part: Buffer): void {
    if (this.#isSkipping || part.length === 0) return
    if (this.#rest.length + part.length <= LONGEST_LINE) {
      // a copy: the chunk is much larger
      this.#rest = Buffer.concat([this.#rest, part])
      return
    }
    this.#isSkipping = true
    this.lines++
    this.#tooLong(decoded(Buffer.concat([this.#rest, part.subarray(0, LONGEST_LINE)])))
    this.#rest = Buffer.alloc(0)
  }

  /** Splits bytes that end with a newline. */
  #split(block: Buffer): void {
    const text = decoded(block)
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const last = text.charCodeAt(end - 1) === CARRIAGE_RETURN && end > from ? end - 1 : end
      this.lines++
      if (last - from > LONGEST_LINE) this.#tooLong(text.slice(from, from + LONGEST_LINE))
      else if (last > from) this.#each(text.slice(from, last))
      from = end + 1
    }
  }
}

/** Returns the text of bytes. Invalid UTF-8 becomes U+FFFD. */
function decoded(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8')
}
