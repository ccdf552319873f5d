import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type Clock, SluiceError } from '@sluice/limiter-core/backend'

const NAME = 'sluice.lock'
/** Its holder shows that it lives so often. */
const BEAT_MS = 5_000
/** A holder on another host, whose processes cannot be asked for, is gone after so long without a sign. */
const GONE_MS = 60_000

/** Who holds a lock. */
interface Holder {
  readonly pid: number
  readonly host: string
  /** When the process started, as far as the system tells: another one may have its number later. */
  readonly started: string
  /** Of this lock: a process may hold it twice, one time after the other. */
  readonly nonce: string
}

/** A folder that one process has to itself, until it releases it or ends, however that is. */
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
   * Makes the folder where it is missing. Takes over what a process left that has ended; rejects with
   * `SLUICE_FOLDER_IN_USE` where one lives that has it, be it this one.
   */
  static async take(folder: string, clock: Clock): Promise<FolderLock> {
    await mkdir(folder, { recursive: true })
    const path = join(folder, NAME)
    const nonce = randomBytes(12).toString('base64url')
    const holder: Holder = { pid: process.pid, host: hostname(), started: await startOf(process.pid), nonce }
    const own = `${path}.${nonce}`
    await writeFile(own, JSON.stringify(holder))
    try {
      while (!(await linked(own, path))) await clearStale(folder, path, clock)
    } finally {
      await rm(own, { force: true })
    }
    return new FolderLock(path, holder, clock)
  }

  /** Does nothing where somebody else has it by now. */
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

/** Gives a file a second name, unless that name is taken: at once or not at all. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes a lock whose holder has ended; rejects where it lives. */
async function clearStale(folder: string, path: string, clock: Clock): Promise<void> {
  const found = await holderIn(path)
  if (found && (await lives(found, path, clock))) {
    const message = `folder: expected one of its own, received ${folder}, which process ${found.pid} on ${found.host} has open`
    throw new SluiceError('SLUICE_FOLDER_IN_USE', message)
  }
  const aside = `${path}.${randomBytes(12).toString('base64url')}`
  if (!(await renamed(path, aside))) return
  const moved = await holderIn(aside)
  // somebody took it over since it was looked at: theirs goes back
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

/** Undefined where there is none, or where what there is was never written to its end. */
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
    return clock.wall() - mtimeMs < GONE_MS
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

/** Ticks from the start of the system to that of the process, on Linux; '' elsewhere. */
async function startOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // the name of the program may have anything in it, up to the last bracket
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
