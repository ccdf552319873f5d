import { type Clocks, MAX_LOGS } from '../log/replica-table.ts'

/** Time for which an unwanted log is remembered after a peer has reported it, in ms. */
const KEPT_MS = 60_000

/**
 * Logs that peers have and this replica does not accept. Their clocks in each ask prevent that peers send the logs in
 * each answer.
 */
export class UnwantedLogs {
  /** Clock and process time of the last report, latest last. */
  readonly #logs = new Map<string, { readonly clock: number; readonly at: number }>()

  add(clocks: Iterable<readonly [replica: string, clock: number]>, now: number): void {
    for (const [replica, clock] of clocks) {
      const known = this.#logs.get(replica)?.clock ?? 0
      this.#logs.delete(replica)
      this.#logs.set(replica, { clock: Math.max(known, clock), at: now })
    }
    const [excess, names] = [this.#logs.size - MAX_LOGS, this.#logs.keys()]
    for (let gone = 0; gone < excess; gone++) this.#logs.delete(names.next().value as string)
  }

  clocks(now: number): Clocks {
    for (const [replica, { at }] of this.#logs) if (now - at >= KEPT_MS) this.#logs.delete(replica)
    return new Map(Array.from(this.#logs, ([replica, { clock }]) => [replica, clock]))
  }
}
