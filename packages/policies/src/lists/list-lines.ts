import { TextDecoder } from 'node:util'
import { MAX_ENTRY_LENGTH } from '../document/list-entry.ts'

/** Most characters of a line. What follows in the line is skipped, so that a file without lines needs no memory. */
const MAX_LINE = 8 * MAX_ENTRY_LENGTH
/** A comment: from the start of the line or after a space, to its end. */
const COMMENT = /(^|\s)[#;].*$/s

/** Splits the text of a list into entries. Lines end in LF or CRLF. */
export class ListLines {
  readonly #decoder = new TextDecoder()
  readonly #found: (entry: string, line: number) => void
  #rest = ''
  #line = 1

  constructor(found: (entry: string, line: number) => void) {
    this.#found = found
  }

  /** Adds the next bytes of the file. */
  add(bytes: Uint8Array): void {
    this.#split(this.#decoder.decode(bytes, { stream: true }))
  }

  /** Ends the last line. */
  end(): void {
    this.#split(this.#decoder.decode())
    this.#report(this.#rest)
  }

  #split(text: string): void {
    const lines = text.split('\n')
    lines[0] = this.#rest + lines[0]
    this.#rest = (lines.pop() as string).slice(0, MAX_LINE)
    for (const line of lines) {
      this.#report(line)
      this.#line++
    }
  }

  #report(line: string): void {
    const entry = (line.includes('#') || line.includes(';') ? line.replace(COMMENT, '') : line).trim()
    if (entry !== '') this.#found(entry, this.#line)
  }
}
