import { KEEP_ALIVE } from '@sluice/limiter-core/backend'
import { StoreCalls, type StoreCallsOptions } from './requests/store-calls.ts'
import type { StoreRequest } from './requests/store-request.ts'

type KeepRunning = (work: Promise<unknown>) => void

/** Time in ms after which a group has been ended by the runtime, because no call takes as long. */
const MAX_GROUP_MS = 5_000

/**
 * Calls of a store in a runtime that ends timers and calls together with the request of a client in which they began. Each
 * group of requests is led by one of them: the first that continues after the group before it. The leader's client request
 * is kept running until the whole group is answered.
 */
export class LedCalls extends StoreCalls {
  readonly #options: StoreCallsOptions
  readonly #keepRunning: KeepRunning
  readonly #waiting = new Set<StoreRequest>()
  /** End of the group that uses a row. */
  readonly #inUse = new Map<string, Promise<unknown>>()

  constructor(options: StoreCallsOptions, keepRunning: KeepRunning) {
    super(options)
    this.#options = options
    this.#keepRunning = keepRunning
  }

  override queue(request: StoreRequest): void {
    this.#waiting.add(request)
    this.#keep(this.#run(request))
  }

  /** Leads a group when the rows are free, unless another request has become the leader. Waits for the end of the group. */
  async #run(request: StoreRequest): Promise<void> {
    while (this.#waiting.has(request)) {
      const row = request.rows.find((one) => this.#inUse.has(one))
      if (row === undefined) return this.#lead(request)
      await this.#freed(row)
    }
    await this.#freed(request.rows[0])
  }

  async #lead(leader: StoreRequest): Promise<void> {
    const rows = new Set(leader.rows)
    const calls = new StoreCalls(this.#options)
    const answers: Promise<void>[] = []
    for (const request of this.#waiting) {
      const joins = request.rows.some((row) => rows.has(row)) && !request.rows.some((row) => this.#inUse.has(row))
      if (!joins) continue
      this.#waiting.delete(request)
      for (const row of request.rows) rows.add(row)
      answers.push(new Promise((answered) => calls.queue(withEnd(request, answered))))
    }
    const end = Promise.all(answers)
    for (const row of rows) this.#inUse.set(row, end)
    await end
    for (const row of rows) this.#free(row, end)
  }

  /** Resolves when the group of a row has ended. The runtime gives up a client request that waits without a timer. */
  async #freed(row: string): Promise<void> {
    const end = this.#inUse.get(row)
    if (!end) return
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(MAX_GROUP_MS, () => resolve(this.#free(row, end)), KEEP_ALIVE)
      void end.then(() => {
        cancel?.()
        resolve(this.#free(row, end))
      })
    })
  }

  #free(row: string, end: Promise<unknown>): void {
    if (this.#inUse.get(row) === end) this.#inUse.delete(row)
  }

  #keep(work: Promise<void>): void {
    try {
      this.#keepRunning(work)
    } catch {
      // not within a client request
    }
  }
}

/** Returns a request that also reports that it has been answered. */
function withEnd(request: StoreRequest, answered: () => void): StoreRequest {
  const { resolve, reject } = request
  return {
    ...request,
    resolve: (answer) => {
      resolve(answer)
      answered()
    },
    reject: (error) => {
      reject(error)
      answered()
    },
  }
}
