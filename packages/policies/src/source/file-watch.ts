import { type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'
import { identityOf, stateAt, versionOf } from './file-state.ts'
import type { WatchOptions } from './policy-source.ts'

/** A file is read once it has not changed for this long. */
const SETTLE_MS = 50
/** A file that changes all the time is read nevertheless, after 2 s. */
const MAX_PAUSES = 40

/**
 * Reports when a file may have changed: after an event of its folder and at each interval, once the file has not changed
 * for 50 ms, so that it is usually complete.
 *
 * The folder is watched instead of the file, because editors and Kubernetes replace the file, or the symbolic link
 * through which it is reached, and a watched file that was replaced reports nothing.
 */
export class FileWatch {
  readonly #path: string
  readonly #folder: string
  readonly #changed: () => void
  readonly #options: WatchOptions
  #watcher: FSWatcher | undefined
  /** Identifies the folder that `#watcher` watches. */
  #watched: string | undefined
  #isSettling = false
  #isStopped = false
  #cancelPoll: (() => void) | undefined
  #cancelPause: (() => void) | undefined

  constructor(path: string, changed: () => void, options: WatchOptions) {
    this.#path = path
    this.#folder = dirname(path)
    this.#changed = changed
    this.#options = options
    void this.#poll()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelPoll?.()
    this.#cancelPause?.()
    this.#unwatch()
  }

  async #poll(): Promise<void> {
    await this.#watchFolder()
    await this.#settle()
    if (this.#isStopped) return
    const { clock, intervalMs } = this.#options
    this.#cancelPoll = clock.after(intervalMs, () => void this.#poll())
  }

  /** Waits until the file has not changed for a while. Events during the wait need no second one. */
  async #settle(): Promise<void> {
    if (this.#isSettling || this.#isStopped) return
    this.#isSettling = true
    let state = await stateAt(this.#path, versionOf)
    for (let pauses = 0; pauses < MAX_PAUSES; pauses++) {
      await this.#pause()
      const next = await stateAt(this.#path, versionOf)
      if (next === state) break
      state = next
    }
    this.#isSettling = false
    if (!this.#isStopped) this.#changed()
  }

  /** Watches the folder that is now at the path, which may be another one than before. */
  async #watchFolder(): Promise<void> {
    const folder = await stateAt(this.#folder, identityOf)
    if (folder === this.#watched || this.#isStopped) return
    this.#unwatch()
    try {
      const watcher = watch(this.#folder, { persistent: false }, () => void this.#settle())
      watcher.on('error', () => this.#unwatch())
      this.#watcher = watcher
      this.#watched = folder
    } catch {
      // the folder does not exist, or the system allows no more watches: the next interval tries again
    }
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#watched = undefined
  }

  /** Never resolves once the watch has stopped. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#isStopped) this.#cancelPause = this.#options.clock.after(SETTLE_MS, resolve)
    })
  }
}
