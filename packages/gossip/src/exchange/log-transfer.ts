import type { LogPart, SentItem } from '../log/replica-table.ts'
import type { AnswerMessage } from './gossip-message.ts'

interface CutLog {
  readonly base: number
  readonly items: SentItem[]
  readonly floor: number
}

/** Collects logs that are too long for one answer, until one replica has sent them completely. */
export class LogTransfer {
  /** Clock received so far of each incomplete log. */
  readonly cursors: Map<string, number> = new Map()
  readonly #cut = new Map<string, CutLog>()
  #from: string | undefined

  get isCut(): boolean {
    return this.#cut.size > 0
  }

  /** Returns the parts of an answer that may be merged. `wants`: whether a log is accepted up to a clock. */
  wholeParts(
    { from, clocks, parts: sent }: AnswerMessage,
    wants: (replica: string, clock: number) => boolean,
  ): LogPart[] {
    // the first ask does not name empty logs: their items are sent again although they are known
    const parts = sent.filter(({ replica, upTo }) => wants(replica, clocks.get(replica) ?? upTo))
    const left = new Set(parts.map(({ replica }) => replica))
    for (const { replica } of sent) if (!left.has(replica)) this.#forget(replica)
    // another replica replied at this address: it is unknown which of the collected items it has replaced
    const isOther = this.#from !== undefined && this.#from !== from
    const known = isOther ? parts.filter(({ replica }) => !this.cursors.has(replica)) : parts
    if (isOther) this.#clear()
    this.#from = from
    return known.flatMap((part) => this.#joined(part) ?? [])
  }

  #joined(part: LogPart): LogPart | undefined {
    const { replica, floor, upTo, isCut } = part
    // such a part would be sent again and again
    if (isCut && upTo <= (this.cursors.get(replica) ?? 0)) {
      this.#forget(replica)
      return undefined
    }
    const before = this.#cut.get(replica)
    const { items = [], base = part.base } = before ?? {}
    for (const item of part.items) items.push(item)
    const least = Math.max(floor, before?.floor ?? 0)
    if (isCut) {
      this.#cut.set(replica, { base, items, floor: least })
      this.cursors.set(replica, upTo)
      return undefined
    }
    this.#forget(replica)
    return { replica, base, floor: least, upTo, items, isCut }
  }

  #forget(replica: string): void {
    this.#cut.delete(replica)
    this.cursors.delete(replica)
  }

  #clear(): void {
    this.#cut.clear()
    this.cursors.clear()
  }
}
