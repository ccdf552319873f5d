import { createReadStream } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { constants, createGunzip } from 'node:zlib'
import { messageOf, SluiceError } from '@sluice/limiter-core/backend'
import { lineParser } from './line-parser.ts'
import { LineSplitter } from './line-splitter.ts'
import type { LogEntry } from './log-entry.ts'
import type { MalformedLines } from './malformed-lines.ts'
import { TimeCheck } from './time-check.ts'

/** Name of the standard input among the files. */
export const STDIN = '-'

export interface LogFileOptions {
  /** See `lineParser`. Default: `auto`. */
  readonly format?: string | undefined
  readonly malformed: MalformedLines
  /** Read in place of a file that is named `-`. Default: the standard input of the process. */
  readonly stdin?: Readable | undefined
  /** Called with the number of bytes that were read from the file. */
  readonly readBytes?: ((bytes: number) => void) | undefined
}

const CHUNK_BYTES = 64 * 1024
const BYTE_ORDER_MARK = /^\ufeff/

/** A log file: plain or compressed by gzip, which its first bytes show. */
export class LogFile {
  readonly name: string
  /** Number of lines that were read. */
  lines = 0
  /** Whether the last line has no newline, as in a log that was cut. */
  isUnfinished = false
  /** Why the file could not be read to its end; undefined if it was. */
  problem: string | undefined
  readonly #options: LogFileOptions

  constructor(name: string, options: LogFileOptions) {
    this.name = name
    this.#options = options
  }

  /** Returns the requests of the file in batches. Throws `SLUICE_BAD_OPTION` if it cannot be opened. */
  async *batches(): AsyncGenerator<readonly LogEntry[]> {
    let batch: LogEntry[] = []
    const parse = lineParser(this.#options.format)
    const { malformed } = this.#options
    const times = new TimeCheck(
      (entry) => batch.push(entry),
      (line, text) => malformed.add(this.name, line, 'expected a time near those of the lines around it', text),
    )
    const splitter = new LineSplitter(
      (line) => {
        const entry = parse(splitter.lines === 1 ? line.replace(BYTE_ORDER_MARK, '') : line)
        if (typeof entry === 'string') malformed.add(this.name, splitter.lines, entry, line)
        else times.add(entry, splitter.lines, line)
      },
      (start) => malformed.add(this.name, splitter.lines, 'expected at most 64 KiB', start),
    )
    for await (const chunk of this.#chunks()) {
      splitter.push(chunk)
      this.lines = splitter.lines
      if (batch.length === 0) continue
      yield batch
      batch = []
    }
    this.isUnfinished = splitter.end()
    times.end()
    this.lines = splitter.lines
    if (batch.length > 0) yield batch
  }

  /** Returns the bytes of the log. Ends early, with `problem`, if gzip data is corrupt. */
  async *#chunks(): AsyncGenerator<Buffer> {
    const source = this.#bytes()
    const first = await source.next()
    if (first.done) return
    const isCompressed = first.value[0] === 0x1f && first.value[1] === 0x8b
    const all = withFirst(first.value, source)
    if (!isCompressed) return yield* all
    // the flush at the end returns what a truncated file contains
    const gunzip = createGunzip({ chunkSize: CHUNK_BYTES, finishFlush: constants.Z_SYNC_FLUSH })
    try {
      yield* pipeline(Readable.from(all), gunzip, () => {}) as AsyncIterable<Buffer>
    } catch (error) {
      if (!isOfZlib(error)) throw error
      this.problem = messageOf(error)
    }
  }

  async *#bytes(): AsyncGenerator<Buffer> {
    const { stdin = process.stdin, readBytes } = this.#options
    const stream = this.name === STDIN ? stdin : createReadStream(this.name, { highWaterMark: CHUNK_BYTES })
    try {
      for await (const part of stream) {
        const chunk = Buffer.isBuffer(part) ? part : Buffer.from(part)
        if (chunk.length === 0) continue
        readBytes?.(chunk.length)
        yield chunk
      }
    } catch (error) {
      throw new SluiceError('SLUICE_BAD_OPTION', `log: expected a readable file, received ${messageOf(error)}`)
    }
  }
}

async function* withFirst(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

function isOfZlib(error: unknown): boolean {
  return String((error as { readonly code?: unknown } | undefined)?.code).startsWith('Z_')
}
