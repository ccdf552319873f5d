import { statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { LogEntry } from './log-entry.ts'
import { LogFile, STDIN } from './log-file.ts'
import { type MalformedLine, MalformedLines } from './malformed-lines.ts'
import { mergedLogs } from './merged-logs.ts'
import { ReorderBuffer } from './reorder-buffer.ts'

export interface LogFilesOptions {
  /** See `lineParser`. Default: `auto`. */
  readonly format?: string | undefined
  readonly stdin?: Readable | undefined
  /** Called after each part with the number of bytes and lines that were read so far. */
  readonly progress?: ((bytes: number, lines: number) => void) | undefined
}

/** What was read, and what could not be read. */
export interface LogSummary {
  readonly files: readonly FileSummary[]
  readonly lines: number
  readonly malformed: { readonly count: number; readonly samples: readonly MalformedLine[] }
  /** Requests that came too late in the log to be sorted: they count at the time of the request before them. */
  readonly late: { readonly count: number; readonly latestByMs: number }
}

interface FileSummary {
  readonly name: string
  readonly lines: number
  /** Whether the last line has no newline, as in a log that was cut. */
  readonly isUnfinished: boolean
  /** Why the file could not be read to its end. */
  readonly problem?: string
}

/** Reads the requests of several logs in the order of their times. */
export class LogFiles {
  readonly #files: readonly LogFile[]
  readonly #malformed = new MalformedLines()
  readonly #buffer = new ReorderBuffer()
  readonly #progress: LogFilesOptions['progress']
  #bytes = 0

  constructor(names: readonly string[], { format, stdin, progress }: LogFilesOptions = {}) {
    this.#progress = progress
    const readBytes = (bytes: number): void => {
      this.#bytes += bytes
    }
    this.#files = names.map((name) => new LogFile(name, { format, stdin, malformed: this.#malformed, readBytes }))
  }

  /** Size of all files, in bytes; undefined if the standard input is one of them. */
  get totalBytes(): number | undefined {
    if (this.#files.some(({ name }) => name === STDIN)) return undefined
    return this.#files.reduce((sum, { name }) => sum + bytesOf(name), 0)
  }

  get lines(): number {
    return this.#files.reduce((sum, { lines }) => sum + lines, 0)
  }

  /** Calls `each` with all requests. Throws `SLUICE_BAD_OPTION` if a file cannot be read or the format is invalid. */
  async read(each: (entry: LogEntry) => void): Promise<LogSummary> {
    for await (const batch of mergedLogs(this.#files.map((file) => file.batches()))) {
      this.#buffer.push(batch, each)
      this.#progress?.(this.#bytes, this.lines)
    }
    this.#buffer.end(each)
    return this.#summary()
  }

  #summary(): LogSummary {
    const { count, samples } = this.#malformed
    return {
      files: this.#files.map(({ name, lines, isUnfinished, problem }) => {
        return { name, lines, isUnfinished, ...(problem !== undefined && { problem }) }
      }),
      lines: this.lines,
      malformed: { count, samples },
      late: { count: this.#buffer.late, latestByMs: this.#buffer.latestByMs },
    }
  }
}

/** Returns 0 if there is no such file, which fails when it is read. */
function bytesOf(name: string): number {
  try {
    return statSync(name).size
  } catch {
    return 0
  }
}
