import type { LogItem, ReplicaLog } from '../log/replica-log.ts'
import { MAX_LOGS } from '../log/replica-table.ts'
import type { GossipNode } from '../node/gossip-node.ts'

/** Logs whose entries another replica took over, kept while the take-over may turn out to be void. */
export class DroppedLogs {
  readonly #node: GossipNode
  readonly #logs = new Map<string, { readonly log: ReplicaLog; readonly droppedAt: number }>()

  constructor(node: GossipNode) {
    this.#node = node
  }

  drop(name: string): void {
    const { logs, clock } = this.#node
    const log = logs.logOf(name)
    if (log) this.#logs.set(name, { log, droppedAt: clock.now() })
    logs.forget(name)
  }

  /** Restores a dropped log and returns its items; returns none if it is no longer kept. */
  restored(name: string): readonly LogItem[] {
    const dropped = this.#logs.get(name)
    if (!dropped) return []
    this.#logs.delete(name)
    this.#node.logs.restore(dropped.log)
    return [...dropped.log.items]
  }

  /** Forgets the logs that were dropped at least `ms` ago, and the oldest of too many. Returns their names. */
  forgotten(ms: number): readonly string[] {
    const now = this.#node.clock.now()
    const excess = this.#logs.size - MAX_LOGS
    const isOld = (droppedAt: number, at: number): boolean => at < excess || now - droppedAt >= ms
    const old = [...this.#logs].filter(([, { droppedAt }], at) => isOld(droppedAt, at)).map(([name]) => name)
    for (const name of old) this.#logs.delete(name)
    return old
  }
}
