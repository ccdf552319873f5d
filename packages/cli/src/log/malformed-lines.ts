/** A line that could not be read. */
export interface MalformedLine {
  readonly file: string
  /** Number of the line in its file, from 1. */
  readonly line: number
  readonly reason: string
  /** Start of the line. Contains whatever the client sent. */
  readonly text: string
}

const SAMPLES = 5
const SAMPLE_LENGTH = 200

/** Counts lines that could not be read, and keeps the first ones. */
export class MalformedLines {
  count = 0
  readonly samples: MalformedLine[] = []

  add(file: string, line: number, reason: string, text: string): void {
    this.count++
    // sliced to a copy: a slice would keep the whole chunk in memory
    if (this.samples.length < SAMPLES) {
      this.samples.push({ file, line, reason, text: Buffer.from(text.slice(0, SAMPLE_LENGTH)).toString() })
    }
  }
}
