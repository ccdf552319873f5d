import { everyTick } from '@sluice/limiter-core/backend'
import { amountOf, type CounterAmount } from './counter-amount.ts'
import { DroppedLogs } from './dropped-logs.ts'
import { EntryTable } from './entry-table.ts'
import { FleetMembers, type MemberNews, newsOf } from './fleet-members.ts'
import { type FoldMark, FoldMarks } from './fold-marks.ts'
import type { GossipNode } from './gossip-node.ts'
import type { GossipTopic } from './gossip-topics.ts'
import { HeldClocks } from './held-clocks.ts'
import { COUNTER, FOLDED, KIND, NEWS, OwnReplica } from './own-replica.ts'
import type { LogItem } from './replica-log.ts'
import type { Clocks } from './replica-table.ts'

/** News of a replica within the time after which it is taken for gone. */
const NEWS_EACH = 6
/** So many times that long a log is kept that another one took over. */
const KEPT_TIMES = 10
/** So many times that long a replica waits for most of the others, of which most may be gone for good. */
const STUCK_TIMES = 60
/** Of those that were taken over, so many stand in the log of a replica, and so many more are remembered. */
const MOST_MARKS = 200
const MOST_ENDED = 10_000
/** A counter that was deleted is forgotten after. */
const DELETED_MS = 3_600_000
/** Asks in a row for somebody who waits; then those of each tick must do. */
const MOST_ASKS = 16

/**
 * What all replicas counted, as one of them knows it: each has a log with an entry for each id, which another one takes
 * over once it is gone. Shapiro et al., A comprehensive study of convergent and commutative replicated data types, 2011.
 */
export class ReplicaCounts implements GossipTopic {
  readonly entries: EntryTable = new EntryTable()
  readonly #node: GossipNode
  readonly #members: FleetMembers
  readonly #marks: FoldMarks
  readonly #goneMs: number
  readonly #held: HeldClocks
  readonly #stop: () => void
  readonly #own: OwnReplica
  readonly #dropped: DroppedLogs
  /** Whether somebody else said something new of who lives. */
  #hasNews = false
  #isAsking = false
  #isClosed = false

  constructor(node: GossipNode, goneMs: number, mostMarks: number = MOST_MARKS) {
    this.#node = node
    this.#goneMs = goneMs
    this.#members = new FleetMembers(node.clock, goneMs)
    this.#held = new HeldClocks(node.clock)
    this.#dropped = new DroppedLogs(node)
    this.#marks = new FoldMarks({ most: mostMarks, leastMs: KEPT_TIMES * goneMs, mostEnded: MOST_ENDED })
    node.attach(KIND, this)
    this.#own = new OwnReplica(node, this.#members)
    this.#stop = everyTick(node.clock, goneMs / NEWS_EACH, () => this.#beat())
  }

  /** Replicas by what is known of them: of those that were taken over, the latest ones. */
  get replicas(): Readonly<Record<'live' | 'dead' | 'folded', number>> {
    const { live, names } = this.#members
    return { live, dead: names.length - live, folded: this.#marks.size }
  }

  /** Adds to what this replica counted. */
  count(id: string, amount: CounterAmount): void {
    const { entries, name } = this.#own
    entries.count(id, amount)
    this.entries.put(name, id, entries.amountOf(id), this.#node.clock.wall())
  }

  /** Answers whether so many other replicas have all that was counted here so far, once they do or after `waitMs`. */
  async held(others: number, waitMs: number): Promise<boolean> {
    this.#own.flush()
    const { name, log } = this.#own.entries
    const held = this.#held.held(name, log.clock, { others, waitMs })
    void this.#askWhileWaited()
    return held
  }

  /** Says that this replica counts no more: its entries may be taken over at once. */
  close(): void {
    if (this.#isClosed) return
    this.#own.flush()
    this.#own.writeNews({ hasLeft: true })
    this.#isClosed = true
    this.#stop()
  }

  /** Called by the node. */
  received(replica: string, item: LogItem): boolean {
    const { key, value } = item
    if (key.startsWith(COUNTER)) this.#receivedAmount(replica, key.slice(COUNTER.length), item)
    else if (key.startsWith(FOLDED) && Number.isSafeInteger(value)) {
      this.#learnFold(key.slice(FOLDED.length), replica, { clock: value as number, bornAt: item.bornAt })
    } else if (key === NEWS) this.#receivedNews(replica, item)
    return true
  }

  /** Called by the node. */
  ended(): void {
    this.#stop()
  }

  /** Called by the node. Items of these logs do not expire. */
  isOld(): boolean {
    return false
  }

  /** Called by the node. */
  missed(): void {}

  /** Called by the node. */
  limitOf(replica: string): number {
    if (this.#marks.isFolded(replica)) return 0
    return this.#own.votes.has(replica) ? this.#members.votedClock(replica) : Number.POSITIVE_INFINITY
  }

  /** Called by the node. */
  beforeExchange(): void {
    if (this.#isClosed) return
    this.#own.flush()
    if (!this.#hasNews) return
    this.#hasNews = false
    this.#vote()
  }

  /** Called by the node. */
  known(node: string, clocks: Clocks): void {
    for (const log of clocks.keys()) this.#markAnew(log)
    const knowsAny = [...clocks.keys()].some((log) => log.startsWith(`${KIND}-`))
    const isKnown = clocks.has(this.#own.name)
    if (isKnown || knowsAny) this.#own.setKnown(isKnown)
    for (const log of this.#own.names) {
      const clock = clocks.get(log)
      if (clock !== undefined) this.#held.learn(log, node, clock)
    }
  }

  #receivedAmount(replica: string, id: string, { value, bornAt }: LogItem): void {
    const amount = amountOf(value)
    const { clock } = this.#node
    if (amount) this.entries.put(replica, id, amount, clock.wall() - (clock.now() - bornAt))
  }

  #receivedNews(replica: string, item: LogItem): void {
    const news = newsOf(item)
    if (!news) return
    this.#members.learn(replica, news, item.bornAt)
    this.#hasNews = true
    // who is taken for gone stays gone: under this name nobody takes anything over any more
    if (news.votes.has(this.#own.name)) this.#startOver(this.#own.votes)
  }

  #learnFold(gone: string, by: string, mark: FoldMark): void {
    if (gone === this.#own.name) this.#startOver()
    const freed = this.#marks.add(gone, by, mark)
    this.#members.remove(gone)
    this.#own.former(gone)?.settle(mark.clock, (id, amount) => this.#countAgain(id, amount))
    this.#dropped.drop(gone)
    this.entries.drop(gone)
    for (const name of freed) this.#restore(name)
    this.#hasNews = true
  }

  /** Somebody has a log that was taken over so long ago that this stands nowhere any more. */
  #markAnew(gone: string): void {
    const mark = this.#marks.endedOf(gone)
    if (!mark || this.#isClosed) return
    const { bornAt } = this.#node.write(FOLDED + gone, mark.clock, this.#own.entries.log)
    this.#learnFold(gone, this.#own.name, { clock: mark.clock, bornAt })
  }

  /** Nobody has its entries any more: who took them over was gone before most knew of it. */
  #restore(name: string): void {
    this.#own.former(name)?.unsettle((id, amount) => this.#countAgain(id, amount))
    for (const item of this.#dropped.restored(name)) this.received(name, item)
  }

  #countAgain(id: string, amount: CounterAmount): void {
    if (amount.epoch >= this.entries.epochOf(id)) this.count(id, amount)
  }

  /** The votes of one whose entries were taken over count nowhere. */
  #startOver(votes: MemberNews['votes'] = new Map()): void {
    if (!this.#isClosed) this.#own.startOver(votes)
  }

  /** Whether this replica has a say in who is gone: as soon as most that have one know it. */
  #isToBeAdmitted(): boolean {
    const { name, ageMs } = this.#own
    const isKnown = this.#members.isKnownToMost(name, (node) => this.#held.clockOf(name, node) > 0)
    return (isKnown ?? ageMs >= this.#goneMs) ? true : ageMs >= STUCK_TIMES * this.#goneMs
  }

  /** Says who is gone, and takes over those whom all others left to this replica. */
  #vote(): void {
    const clockOf = (replica: string): number => this.#node.logs.logOf(replica)?.clock ?? 0
    const votes = this.#members.votes(this.#own.name, clockOf)
    const isNew = !this.#own.isAdmitted && this.#isToBeAdmitted()
    if (isNew) this.#own.admit()
    if (isNew || JSON.stringify([...votes]) !== JSON.stringify([...this.#own.votes])) this.#own.writeNews({ votes })
    for (const gone of this.#members.decided(this.#own.name, clockOf)) this.#fold(gone, clockOf(gone))
  }

  #fold(gone: string, clock: number): void {
    const { entries, name: own } = this.#own
    for (const [id, amount] of this.entries.amountsOf(gone)) {
      entries.inherit(id, amount)
      this.entries.put(own, id, entries.amountOf(id), 0)
    }
    this.#own.flush()
    for (const [name, mark] of this.#marks.of(gone)) {
      this.#node.write(FOLDED + name, mark.clock, entries.log, mark.bornAt)
      this.#marks.add(name, own, mark)
    }
    // last: who has this has all that stands before it
    const { bornAt } = this.#node.write(FOLDED + gone, clock, entries.log)
    this.#learnFold(gone, own, { clock, bornAt })
  }

  #beat(): void {
    // all others refuse it: it was taken over, and this one refuses the log in which that stands
    if (this.#own.unknownMs >= this.#goneMs) this.#startOver()
    this.#vote()
    this.#own.writeNews()
    const { entries, name } = this.#own
    const isQuorum = this.#members.isQuorum(name)
    entries.isCutOff = !isQuorum
    const nodes = this.#members.liveNodes(name)
    if (isQuorum) entries.prune(Math.min(entries.log.clock, ...nodes.map((node) => this.#held.clockOf(name, node))))
    this.#held.keepOnly(this.#members.nodes)
    this.#forgetOld()
    for (const name of this.#dropped.forgotten(KEPT_TIMES * this.#goneMs)) {
      this.#own.forget(name)
      this.#held.forget(name)
    }
  }

  #forgetOld(): void {
    const { clock, logs } = this.#node
    const names = this.#members.names
    for (const id of this.entries.deletedBefore(clock.wall() - DELETED_MS)) {
      this.entries.forget(id)
      this.#own.entries.forget(id)
      for (const name of names) logs.logOf(name)?.remove(COUNTER + id)
    }
    for (const { replica, by } of this.#marks.endOld(clock.now())) logs.logOf(by)?.remove(FOLDED + replica)
  }

  /** Until nobody waits, nobody answers, or for a while. */
  async #askWhileWaited(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    for (let asks = 0; asks < MOST_ASKS && this.#held.isWaited; asks++) if (!(await this.#node.askOne())) break
    this.#isAsking = false
  }
}
