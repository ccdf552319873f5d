import type { Worker } from 'node:cluster'
import type { Port } from './cluster-client.ts'

interface Listener {
  readonly message: (message: unknown) => void
  readonly lost: () => void
}

/**
 * The channel of a worker to its primary, shared by all backends of the worker. Listeners are added to `worker` and not
 * to `process`, because a listener on `process` keeps the process alive.
 */
export class WorkerPort implements Port {
  readonly #worker: Worker
  readonly #listeners = new Set<Listener>()

  constructor(worker: Worker) {
    this.#worker = worker
  }

  get connected(): boolean {
    return process.connected === true
  }

  send(message: object, failed: () => void): void {
    process.send?.(message, undefined, undefined, (error) => error && failed())
  }

  listen(message: (message: unknown) => void, lost: () => void): () => void {
    const listener = { message, lost }
    if (this.#listeners.size === 0) {
      this.#worker.on('message', this.#message)
      this.#worker.on('disconnect', this.#lost)
    }
    this.#listeners.add(listener)
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return
      this.#worker.off('message', this.#message)
      this.#worker.off('disconnect', this.#lost)
    }
  }

  readonly #message = (message: unknown): void => {
    for (const listener of this.#listeners) listener.message(message)
  }

  readonly #lost = (): void => {
    for (const listener of this.#listeners) listener.lost()
  }
}
