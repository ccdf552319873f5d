import type { AnswerMessage } from './gossip-message.ts'
import type { LogPart, SentItem } from './replica-table.ts'

interface CutLog {
  readonly base: number
  readonly items: SentItem[]
  readonly floor: number
}

/** Logs that are too long for one answer, until one replica has sent them to their ends. */
export class LogTransfer {
  /** How far each of them came. */
  readonly cursors: Map<string, number> = new Map()
  readonly #cut = new Map<string, CutLog>()
  #from: string | undefined

  get isCut(): boolean {
    return this.#cut.size > 0
  }

  /** Of an answer to an ask with `cursors`, the parts that may be merged; `wants`: whether a log is taken over that far. */
  wholeParts(
    { from, clocks, parts: sent }: AnswerMessage,
    wants: (replica: string, clock: number) => boolean,
  ): LogPart[] {
    // a first ask does not name logs of which nothing is kept: they are sent again, and known
    const parts = sent.filter(({ replica, upTo }) => wants(replica, clocks.get(replica) ?? upTo))
    // another replica answers at this address: what it has replaced, nobody knows
    const isOther = this.#from !== undefined && this.#from !== from
    const known = isOther ? parts.filter(({ replica }) => !this.cursors.has(replica)) : parts
    if (isOther) this.#clear()
    this.#from = from
    return known.flatMap((part) => this.#joined(part) ?? [])
  }

  #joined(part: LogPart): LogPart | undefined {
    const { replica, floor, upTo, isCut } = part
    const before = this.#cut.get(replica)
    const { items = [], base = part.base } = before ?? {}
    for (const item of part.items) items.push(item)
    const least = Math.max(floor, before?.floor ?? 0)
    if (isCut) {
      this.#cut.set(replica, { base, items, floor: least })
      this.cursors.set(replica, upTo)
      return undefined
    }
    this.#cut.delete(replica)
    this.cursors.delete(replica)
    return { replica, base, floor: least, upTo, items, isCut }
  }

  #clear(): void {
    this.#cut.clear()
    this.cursors.clear()
  }
}
