import { everyTick } from '@sluice/limiter-core/backend'
import { amountJson, amountOf, type CounterAmount } from './counter-amount.ts'
import { DroppedLogs } from './dropped-logs.ts'
import { EntryTable } from './entry-table.ts'
import { FleetMembers, type MemberNews, newsJson, newsOf } from './fleet-members.ts'
import { FormerEntries } from './former-entries.ts'
import type { GossipNode } from './gossip-node.ts'
import type { GossipTopic } from './gossip-topics.ts'
import { HeldClocks } from './held-clocks.ts'
import { OwnEntries } from './own-entries.ts'
import type { LogItem } from './replica-log.ts'
import type { Clocks } from './replica-table.ts'

const KIND = 'counters'
const COUNTER = `${KIND}:id:`
const NEWS = `${KIND}:member`
const FOLDED = `${KIND}:folded:`
/** News of a replica within the time after which it is taken for gone. */
const NEWS_EACH = 6
/** So many times that long a log is kept that another one took over. */
const KEPT_TIMES = 10
/** So many times that long a replica waits for most of the others, of which most may be gone for good. */
const STUCK_TIMES = 60
/** A replica that was taken for gone, and comes back, is known for so long. */
const FOLDED_MS = 24 * 3_600_000
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
  readonly #goneMs: number
  readonly #held: HeldClocks
  readonly #stop: () => void
  #own: OwnEntries
  #since: number
  /** Of the clock. */
  #startedAt: number
  #isAdmitted = false
  /** Logs under which this process counted before it was taken for gone, until their entries are taken over. */
  readonly #former = new Map<string, FormerEntries>()
  readonly #dropped: DroppedLogs
  /** Whether somebody else said something new of who lives. */
  #hasNews = false
  #isAsking = false
  /** Since when others tell how far they know logs, and do not know that of this one. */
  #unknownSince: number | undefined
  #isClosed = false

  constructor(node: GossipNode, goneMs: number) {
    this.#node = node
    this.#goneMs = goneMs
    this.#members = new FleetMembers(node.clock, goneMs)
    this.#held = new HeldClocks(node.clock)
    this.#dropped = new DroppedLogs(node)
    node.attach(KIND, this)
    this.#own = new OwnEntries(node.openLog(KIND))
    this.#since = node.clock.wall()
    this.#startedAt = node.clock.now()
    this.#writeNews()
    this.#stop = everyTick(node.clock, goneMs / NEWS_EACH, () => this.#beat())
  }

  /** Adds to what this replica counted. */
  count(id: string, amount: CounterAmount): void {
    this.#own.count(id, amount)
    this.entries.put(this.#own.name, id, this.#own.amountOf(id), this.#node.clock.wall())
  }

  /** Answers whether so many other replicas have all that was counted here so far, once they do or after `waitMs`. */
  async held(others: number, waitMs: number): Promise<boolean> {
    this.#flush()
    const { name, log } = this.#own
    const held = this.#held.held(name, log.clock, { others, waitMs })
    void this.#askWhileWaited()
    return held
  }

  /** Says that this replica counts no more: its entries may be taken over at once. */
  close(): void {
    if (this.#isClosed) return
    this.#flush()
    this.#writeNews(true)
    this.#isClosed = true
    this.#stop()
  }

  /** For its node. */
  received(replica: string, item: LogItem): boolean {
    const { key, value } = item
    if (key.startsWith(COUNTER)) this.#receivedAmount(replica, key.slice(COUNTER.length), item)
    else if (key.startsWith(FOLDED) && Number.isSafeInteger(value)) {
      this.#learnFold(key.slice(FOLDED.length), replica, value as number)
    } else if (key === NEWS) this.#receivedNews(replica, item)
    return true
  }

  /** For its node. */
  ended(): void {
    this.#stop()
  }

  /** For its node: nothing of these logs is dropped by its age. */
  isOld(): boolean {
    return false
  }

  /** For its node. */
  missed(): void {}

  /** For its node. */
  limitOf(replica: string): number {
    if (this.#members.isFolded(replica)) return 0
    const isVoted = this.#members.newsOf(this.#own.name)?.votes.has(replica)
    return isVoted ? this.#members.votedClock(replica) : Number.POSITIVE_INFINITY
  }

  /** For its node. */
  beforeExchange(): void {
    if (this.#isClosed) return
    this.#flush()
    if (!this.#hasNews) return
    this.#hasNews = false
    this.#vote()
  }

  /** For its node. */
  known(node: string, clocks: Clocks): void {
    const knowsAny = [...clocks.keys()].some((log) => log.startsWith(`${KIND}-`))
    if (clocks.has(this.#own.name)) this.#unknownSince = undefined
    else if (knowsAny) this.#unknownSince ??= this.#node.clock.now()
    for (const log of [this.#own.name, ...this.#former.keys()]) {
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
    if (news.votes.has(this.#own.name)) this.#startOver(this.#members.newsOf(this.#own.name)?.votes)
  }

  #learnFold(gone: string, by: string, clock: number): void {
    if (gone === this.#own.name) this.#startOver()
    const freed = this.#members.fold(gone, by, clock)
    this.#former.get(gone)?.settle(clock, (id, amount) => this.#countAgain(id, amount))
    this.#dropped.drop(gone)
    this.entries.drop(gone)
    for (const name of freed) this.#restore(name)
    this.#hasNews = true
  }

  /** Nobody has its entries any more: who took them over was gone before most knew of it. */
  #restore(name: string): void {
    this.#former.get(name)?.unsettle((id, amount) => this.#countAgain(id, amount))
    for (const item of this.#dropped.restored(name)) this.received(name, item)
  }

  #countAgain(id: string, amount: CounterAmount): void {
    if (amount.epoch >= this.entries.epochOf(id)) this.count(id, amount)
  }

  /** Goes on under a new name, with entries that begin at 0. The votes of one whose entries were taken over count nowhere. */
  #startOver(votes: MemberNews['votes'] = new Map()): void {
    if (this.#isClosed) return
    this.#flush()
    this.#writeNews(true)
    this.#former.set(this.#own.name, new FormerEntries(this.#own))
    this.#node.logs.release(this.#own.log)
    this.#own = new OwnEntries(this.#node.openLog(KIND))
    this.#since = this.#node.clock.wall()
    this.#startedAt = this.#node.clock.now()
    this.#isAdmitted = false
    this.#unknownSince = undefined
    this.#writeNews(false, votes)
  }

  /** Whether this replica has a say in who is gone: as soon as most that have one know it. */
  #isToBeAdmitted(): boolean {
    const { name } = this.#own
    const ageMs = this.#node.clock.now() - this.#startedAt
    const isKnown = this.#members.isKnownToMost(name, (node) => this.#held.clockOf(name, node) > 0)
    return (isKnown ?? ageMs >= this.#goneMs) ? true : ageMs >= STUCK_TIMES * this.#goneMs
  }

  /** Says who is gone, and takes over those whom all others left to this replica. */
  #vote(): void {
    const clockOf = (replica: string): number => this.#node.logs.logOf(replica)?.clock ?? 0
    const votes = this.#members.votes(this.#own.name, clockOf)
    const before = this.#members.newsOf(this.#own.name)?.votes ?? new Map()
    const isNew = !this.#isAdmitted && this.#isToBeAdmitted()
    this.#isAdmitted ||= isNew
    if (isNew || JSON.stringify([...votes]) !== JSON.stringify([...before])) this.#writeNews(false, votes)
    for (const gone of this.#members.decided(this.#own.name, clockOf)) this.#fold(gone, clockOf(gone))
  }

  #fold(gone: string, clock: number): void {
    const own = this.#own
    for (const [id, amount] of this.entries.amountsOf(gone)) {
      own.inherit(id, amount)
      this.entries.put(own.name, id, own.amountOf(id), 0)
    }
    this.#flush()
    for (const [name, at] of this.#members.foldedBy(gone)) {
      this.#node.write(FOLDED + name, at, own.log)
      this.#members.fold(name, own.name, at)
    }
    // last: who has this has all that stands before it
    this.#node.write(FOLDED + gone, clock, own.log)
    this.#learnFold(gone, own.name, clock)
  }

  #beat(): void {
    // all others refuse it: it was taken over, and this one refuses the log in which that stands
    if (this.#node.clock.now() - (this.#unknownSince ?? Number.POSITIVE_INFINITY) >= this.#goneMs) this.#startOver()
    this.#vote()
    this.#writeNews()
    const { name, log } = this.#own
    const isQuorum = this.#members.isQuorum(name)
    this.#own.isCutOff = !isQuorum
    const nodes = this.#members.liveNodes(name)
    if (isQuorum) this.#own.prune(Math.min(log.clock, ...nodes.map((node) => this.#held.clockOf(name, node))))
    this.#forgetOld()
    for (const name of this.#dropped.forgotten(KEPT_TIMES * this.#goneMs)) {
      this.#former.delete(name)
      this.#held.forget(name)
    }
  }

  #forgetOld(): void {
    const { clock, logs } = this.#node
    const names = this.#members.names
    for (const id of this.entries.deletedBefore(clock.wall() - DELETED_MS)) {
      this.entries.forget(id)
      this.#own.forget(id)
      for (const name of names) logs.logOf(name)?.remove(COUNTER + id)
    }
    for (const name of names) {
      for (const gone of this.#members.foldedBy(name).keys()) {
        const item = logs.logOf(name)?.itemOf(FOLDED + gone)
        if (!item) continue
        if (clock.now() - item.bornAt < FOLDED_MS) break
        this.#members.unfold(gone, name)
        logs.logOf(name)?.remove(item.key)
      }
    }
  }

  #writeNews(hasLeft = false, votes = this.#members.newsOf(this.#own.name)?.votes ?? new Map()): void {
    const news = { node: this.#node.replica, since: this.#since, hasLeft, isAdmitted: this.#isAdmitted, votes }
    const { bornAt } = this.#node.write(NEWS, newsJson(news), this.#own.log)
    this.#members.learn(this.#own.name, news, bornAt)
  }

  #flush(): void {
    const own = this.#own
    own.flush((id, amount) => this.#node.write(COUNTER + id, amountJson(amount), own.log).clock)
  }

  /** Until nobody waits, nobody answers, or for a while. */
  async #askWhileWaited(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    for (let asks = 0; asks < MOST_ASKS && this.#held.isWaited; asks++) if (!(await this.#node.askOne())) break
    this.#isAsking = false
  }
}
