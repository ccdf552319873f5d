import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type Clock, SluiceError } from '@sluice/limiter-core/backend'

const NAME = 'sluice.lock'
/** Interval at which the holder updates the time of the lock file. */
const BEAT_MS = 5_000
/** Age after which the lock of another host is stale, since processes of other hosts cannot be checked. */
const STALE_MS = 60_000

/** Process that holds a lock; the content of the lock file. */
interface Holder {
  readonly pid: number
  readonly host: string
  /** Start time of the process, if the system reports it: a later process may have the same pid. */
  readonly started: string
  /** Unique for each lock, because a process may acquire the lock several times. */
  readonly nonce: string
}

/** Lock that gives one process exclusive use of a folder until it releases the lock or ends. */
export class FolderLock {
  readonly #path: string
  readonly #holder: Holder
  readonly #clock: Clock
  #cancelBeat: () => void = () => {}

  private constructor(path: string, holder: Holder, clock: Clock) {
    this.#path = path
    this.#holder = holder
    this.#clock = clock
    this.#beat()
  }

  /**
   * Creates the folder if it is missing and locks it, replacing the lock of a process that has ended. Rejects with
   * `SLUICE_FOLDER_IN_USE` if a running process, including this one, holds the lock.
   */
  static async take(folder: string, clock: Clock): Promise<FolderLock> {
    await mkdir(folder, { recursive: true })
    const path = join(folder, NAME)
    const nonce = randomBytes(12).toString('base64url')
    const holder: Holder = { pid: process.pid, host: hostname(), started: await startOf(process.pid), nonce }
    const own = `${path}.${nonce}`
    try {
      await writeFile(own, JSON.stringify(holder))
      while (!(await linked(own, path))) await clearStale(folder, path, clock)
    } finally {
      await rm(own, { force: true })
    }
    return new FolderLock(path, holder, clock)
  }

  /** Removes the lock, unless another process holds it by now. */
  async release(): Promise<void> {
    this.#cancelBeat()
    const found = await holderIn(this.#path)
    if (found?.nonce === this.#holder.nonce) await rm(this.#path, { force: true })
  }

  #beat(): void {
    this.#cancelBeat = this.#clock.after(BEAT_MS, () => {
      const now = this.#clock.wall() / 1000
      utimes(this.#path, now, now).catch(() => {})
      this.#beat()
    })
  }
}

/** Creates a hard link atomically. Returns false if `to` exists. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock if its holder has ended; rejects if the holder is running. */
async function clearStale(folder: string, path: string, clock: Clock): Promise<void> {
  const found = await holderIn(path)
  if (found && (await lives(found, path, clock))) {
    const received = `${folder}, which process ${found.pid} on ${found.host} has open`
    throw new SluiceError('SLUICE_FOLDER_IN_USE', `folder: expected an unused folder, received ${received}`)
  }
  const aside = `${path}.${randomBytes(12).toString('base64url')}`
  if (!(await renamed(path, aside))) return
  const moved = await holderIn(aside)
  // another process replaced the lock after it was read: put its lock back
  if (moved && moved.nonce !== found?.nonce) await linked(aside, path)
  await rm(aside, { force: true })
}

async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Returns the holder in a lock file; undefined if the file is missing or incomplete. */
async function holderIn(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

async function lives({ pid, host, started }: Holder, path: string, clock: Clock): Promise<boolean> {
  if (host !== hostname()) {
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }))
    return clock.wall() - mtimeMs < STALE_MS
  }
  return isRunning(pid) && (await startOf(pid)) === started
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Returns the start time of a process in clock ticks since boot, on Linux; '' elsewhere. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // the program name may contain any character, so the fields start after the last bracket
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
