import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createGunzip, gunzipSync } from 'node:zlib'
import { afterThisTurn, badOption } from '@sluice/limiter-core/backend'
import { FileMoment } from '../source/file-moment.ts'
import { FileWatch } from '../source/file-watch.ts'
import type { WatchOptions } from '../source/policy-source.ts'
import { SerialReads } from '../source/serial-reads.ts'
import { unreadable } from '../source/unreadable.ts'
import { ListLines } from './list-lines.ts'
import { ListReport, type LoadedList } from './list-report.ts'
import { runAtOnce, runInTurns } from './steps.ts'

/** Bytes that are read in one turn of the event loop: about 9,000 entries, which take a few milliseconds. */
const CHUNK_BYTES = 2 ** 17

/**
 * Creates a list in a file, which is read when `load` or `loadSync` is called. Throws `SLUICE_BAD_OPTION` if `path` is
 * not a path.
 */
export function listFile(path: string): ListFile {
  if (typeof path !== 'string' || path === '') throw badOption('listFile: path', path, 'the path of a file')
  return new ListFile(path)
}

/**
 * A file with an address, a range or a key on each line. Empty lines are ignored, and comments: from `#` or `;` at the
 * start of a line or after a space, to its end. Lines end in LF or CRLF. The file may be compressed with gzip.
 */
export class ListFile {
  readonly path: string
  readonly #reads = new SerialReads()
  /** State of the file that was loaded last; undefined if the file may have changed without another state. */
  #version: string | undefined

  constructor(path: string) {
    this.path = path
  }

  /** Loads the list and blocks the event loop: about a second for a million entries. Throws `SLUICE_POLICIES_UNREADABLE`. */
  loadSync(): LoadedList {
    const report = new ListReport()
    const lines = new ListLines((entry, line) => report.add(entry, line))
    let file: number | undefined
    try {
      file = openSync(this.path, 'r')
      const before = new FileMoment(fstatSync(file, { bigint: true }))
      const raw = readFileSync(file)
      const bytes = isGzip(raw) ? gunzipSync(raw) : raw
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) lines.add(bytes.subarray(at, at + CHUNK_BYTES))
      lines.end()
      this.#version = before.versionIfSame(fstatSync(file, { bigint: true }))
    } catch (error) {
      throw unreadable(this.path, error)
    } finally {
      if (file !== undefined) closeSync(file)
    }
    return runAtOnce(report.build())
  }

  /**
   * Loads the list in steps of a few milliseconds. Returns undefined if the file has not changed since this object loaded
   * it last. Calls may overlap: they run one after another. Rejects with `SLUICE_POLICIES_UNREADABLE`.
   */
  load(): Promise<LoadedList | undefined> {
    return this.#reads.run(async () => {
      let file: FileHandle | undefined
      try {
        file = await open(this.path, 'r')
        const before = new FileMoment(await file.stat({ bigint: true }))
        if (before.version === this.#version) return undefined
        const loaded = await loadFrom(file)
        this.#version = before.versionIfSame(await file.stat({ bigint: true }))
        return loaded
      } catch (error) {
        throw unreadable(this.path, error)
      } finally {
        await file?.close()
      }
    })
  }

  /** Calls `changed` when the file may have changed, as sources do. Returns a function that stops watching. */
  watch(changed: () => void, options: WatchOptions): () => void {
    const watch = new FileWatch(this.path, changed, options)
    return () => watch.stop()
  }
}

async function loadFrom(file: FileHandle): Promise<LoadedList> {
  const report = new ListReport()
  const lines = new ListLines((entry, line) => report.add(entry, line))
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
  for await (const chunk of chunksOf(file, isGzip(buffer))) {
    lines.add(chunk)
    await new Promise<void>(afterThisTurn)
  }
  lines.end()
  return runInTurns(report.build())
}

function chunksOf(file: FileHandle, compressed: boolean): AsyncIterable<Uint8Array> {
  const bytes = file.createReadStream({ start: 0, highWaterMark: CHUNK_BYTES, autoClose: false })
  if (!compressed) return bytes
  const unzipped = createGunzip({ chunkSize: CHUNK_BYTES })
  bytes.on('error', (error) => unzipped.destroy(error))
  return bytes.pipe(unzipped)
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}
