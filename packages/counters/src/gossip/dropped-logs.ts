import type { GossipNode } from './gossip-node.ts'
import type { LogItem, ReplicaLog } from './replica-log.ts'

/** Logs whose entries another replica took over, for as long as that may turn out to be void. */
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

  /** The items of a log that is known again. */
  restored(name: string): readonly LogItem[] {
    const dropped = this.#logs.get(name)
    if (!dropped) return []
    this.#logs.delete(name)
    this.#node.logs.restore(dropped.log)
    return [...dropped.log.items]
  }

  /** Forgets those that were dropped so long ago, and answers their names. */
  forgotten(ms: number): readonly string[] {
    const now = this.#node.clock.now()
    const old = [...this.#logs].filter(([, { droppedAt }]) => now - droppedAt >= ms).map(([name]) => name)
    for (const name of old) this.#logs.delete(name)
    return old
  }
}
