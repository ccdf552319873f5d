import { existsSync } from 'node:fs'
import { open, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { type Clock, messageOf, type SqlRunner } from '@sluice/limiter-core/backend'
import { unavailableError } from '../unavailable.ts'
import { checkRoom } from './folder-room.ts'

/** Time before the first attempt to open a stopped database again; doubled after each attempt that fails. */
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 30_000

/**
 * PGlite in a folder. It stops if PostgreSQL reports a PANIC, e.g. if the disk has no room for the write-ahead log: the
 * next call of PGlite would then never return and block the process. A stopped database is replaced by a new PGlite,
 * which recovers the folder as after a crash, as soon as the folder has room. Until then calls reject with
 * `SLUICE_COUNTERS_UNAVAILABLE`.
 */
export class EmbeddedDatabase implements SqlRunner {
  readonly #folder: string
  readonly #clock: Clock
  #database: PGlite | undefined
  #stoppedBy: unknown
  #retryAt = 0
  #failedAttempts = 0
  // a call that PGlite has queued behind a PANIC could not be held back
  #lastCall: Promise<unknown> = Promise.resolve()
  #isClosed = false

  private constructor(folder: string, clock: Clock) {
    this.#folder = folder
    this.#clock = clock
  }

  /** Opens the database, which is created if missing. Rejects with `SLUICE_COUNTERS_UNAVAILABLE` if it cannot start. */
  static async open(folder: string, clock: Clock): Promise<EmbeddedDatabase> {
    const opened = new EmbeddedDatabase(folder, clock)
    opened.#database = await opened.#started()
    return opened
  }

  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    const answer = this.#lastCall.then(() => this.#query(text, values))
    this.#lastCall = answer.catch(() => {})
    return answer
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#lastCall
    await this.#database?.close()
  }

  async #query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    this.#database ??= await this.#replacement()
    try {
      return await this.#database.query(text, values)
    } catch (error) {
      if (isFatal(error)) this.#stop(error)
      throw error
    }
  }

  #stop(error: unknown): void {
    const stopped = this.#database
    this.#database = undefined
    this.#stoppedBy = error
    this.#failedAttempts = 0
    this.#retryAt = this.#clock.now() + FIRST_RETRY_MS
    if (stopped) closeFiles(stopped)
  }

  async #replacement(): Promise<PGlite> {
    const now = this.#clock.now()
    if (this.#isClosed || now < this.#retryAt) throw this.#stopped()
    this.#retryAt = now + FIRST_RETRY_MS
    try {
      await checkRoom(this.#folder)
    } catch (error) {
      throw this.#stopped(error)
    }
    try {
      return await this.#started()
    } catch (error) {
      this.#retryAt = this.#clock.now() + Math.min(FIRST_RETRY_MS * 2 ** ++this.#failedAttempts, MAX_RETRY_MS)
      throw this.#stopped(error)
    }
  }

  async #started(): Promise<PGlite> {
    const { PGlite } = await import('@electric-sql/pglite')
    const path = join(this.#folder, 'pglite')
    try {
      return existsSync(path) && !existsSync(markOf(path))
        ? await PGlite.create(path)
        : await created(path, () => PGlite.create(path))
    } catch (error) {
      const advice = 'check that the folder is writable and its disk has room'
      throw unavailableError(`the database in '${this.#folder}' did not start: ${messageOf(error)}; ${advice}`, {
        cause: error,
      })
    }
  }

  #stopped(cause: unknown = this.#stoppedBy): Error {
    const reason = `the database in '${this.#folder}' has stopped: ${messageOf(this.#stoppedBy)}`
    const advice = 'it starts again when the folder has room'
    return unavailableError(cause === this.#stoppedBy ? `${reason}; ${advice}` : `${reason}; ${messageOf(cause)}`, {
      cause,
    })
  }
}

/** Exists while a database is being created. */
function markOf(path: string): string {
  return `${path}.incomplete`
}

/**
 * Starts a new database, and deletes what an earlier first start has left. PGlite never starts in a folder in which its
 * first start has failed.
 */
async function created(path: string, start: () => Promise<PGlite>): Promise<PGlite> {
  const mark = markOf(path)
  await writeFile(mark, '')
  await rm(path, { recursive: true, force: true })
  let database: PGlite | undefined
  try {
    database = await start()
    await rm(mark)
    await syncFolder(dirname(path))
    return database
  } catch (error) {
    if (database) await database.close()
    else {
      // frees the disk; the mark is last, so that what is left of the database is never used
      await rm(path, { recursive: true, force: true })
      await rm(mark, { force: true })
    }
    throw error
  }
}

/** After a power failure the mark must not be there again, because the database would be deleted. */
async function syncFolder(path: string): Promise<void> {
  // Windows does not open folders, and writes such changes at once
  if (process.platform === 'win32') return
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Whether PGlite cannot be used after this error. */
function isFatal(error: unknown): boolean {
  const { severity, name } = error as { readonly severity?: unknown; readonly name?: unknown }
  // the others are errors of WebAssembly and of Emscripten
  return severity === 'PANIC' || severity === 'FATAL' || name === 'RuntimeError' || name === 'ExitStatus'
}

/** Closes the files of a database without a call of PostgreSQL, which would not return. */
function closeFiles({ Module: { FS } }: PGlite): void {
  for (const stream of [...FS.streams]) {
    try {
      if (stream && 'nfd' in stream) FS.close(stream)
    } catch {
      // a file that stays open costs a descriptor
    }
  }
}
