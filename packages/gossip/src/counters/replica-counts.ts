import { repeatEvery } from '@sluice/limiter-core/backend'
import type { LogItem } from '../log/replica-log.ts'
import type { Clocks } from '../log/replica-table.ts'
import type { GossipNode } from '../node/gossip-node.ts'
import type { GossipTopic } from '../node/gossip-topics.ts'
import { Absence } from './absence.ts'
import { amountOf, type CounterAmount } from './counter-amount.ts'
import { DroppedLogs } from './dropped-logs.ts'
import { EagerExchanges } from './eager-exchanges.ts'
import { EntryTable } from './entry-table.ts'
import { FleetMembers, type MemberStatus, parseStatus } from './fleet-members.ts'
import { type FoldMark, FoldMarks } from './fold-marks.ts'
import { COUNTER, FOLDED, foldedBy, KIND, MEMBER_PREFIX, markOf, OwnReplica } from './own-replica.ts'
import { ReplicationProgress } from './replication-waiters.ts'

/** Number of status reports that a replica writes within `deadAfterMs`. */
const NEWS_EACH = 6
/** Multiple of `deadAfterMs` for which a log is kept after another replica took it over. */
const KEPT_TIMES = 10
/** Multiple of `deadAfterMs` for which a replica waits for the majority, which may never return. */
const STUCK_TIMES = 60
/** Maximum number of marks of taken-over replicas in the log of a replica. */
const MAX_MARKS = 200
/** Time after which a deleted counter is forgotten. */
const DELETED_MS = 3_600_000

/**
 * The counts of all replicas as this one knows them. Each replica has a log with an entry for each id; when it is gone,
 * another replica takes over its entries. Shapiro et al., A comprehensive study of convergent and commutative
 * replicated data types, 2011.
 */
export class ReplicaCounts implements GossipTopic {
  readonly entries: EntryTable = new EntryTable()
  readonly hasOwnLogs = true
  readonly #node: GossipNode
  readonly #members: FleetMembers
  readonly #marks: FoldMarks
  readonly #deadAfterMs: number
  readonly #held: ReplicationProgress
  readonly #stop: () => void
  readonly #own: OwnReplica
  readonly #dropped: DroppedLogs
  readonly #absence: Absence
  readonly #exchanges: EagerExchanges
  /** Whether another replica has reported a status or a take-over since the last vote. */
  #hasNews = false
  #isClosed = false

  constructor(node: GossipNode, deadAfterMs: number, mostMarks: number = MAX_MARKS) {
    this.#node = node
    this.#deadAfterMs = deadAfterMs
    this.#members = new FleetMembers(node.clock, deadAfterMs)
    this.#held = new ReplicationProgress(node.clock)
    this.#dropped = new DroppedLogs(node)
    this.#absence = new Absence(node.clock, deadAfterMs)
    this.#exchanges = new EagerExchanges(node, () => this.#held.hasWaiters)
    this.#marks = new FoldMarks({ most: mostMarks, leastMs: KEPT_TIMES * deadAfterMs })
    node.attach(KIND, this)
    this.#own = new OwnReplica(node, this.#members)
    this.#stop = repeatEvery(node.clock, deadAfterMs / NEWS_EACH, () => this.#beat())
  }

  /** Number of replicas by state. `folded` is limited to the replicas that were taken over most recently. */
  get replicas(): Readonly<Record<'live' | 'dead' | 'folded', number>> {
    const { live, names } = this.#members
    return { live, dead: names.length - live, folded: this.#marks.size }
  }

  /** Adds an amount to the entry of this replica. */
  count(id: string, amount: CounterAmount): void {
    const { entries, name } = this.#own
    entries.count(id, amount)
    this.entries.put(name, id, entries.amountOf(id), this.#node.clock.wall())
  }

  /**
   * Resolves with true once `others` other replicas have everything counted here so far, or with false after `waitMs`.
   */
  async whenReplicated(others: number, waitMs: number): Promise<boolean> {
    this.#own.flush()
    const { name, log } = this.#own.entries
    const held = this.#held.whenReplicated(name, log.clock, { others, waitMs })
    void this.#exchanges.run()
    return held
  }

  /** Announces that this replica no longer counts, so that its entries can be taken over at once. */
  close(): void {
    if (this.#isClosed) return
    this.#own.flush()
    this.#own.writeStatus({ hasLeft: true })
    this.#isClosed = true
    this.#stop()
  }

  /** Called by the node. */
  received(replica: string, item: LogItem): boolean {
    const { key } = item
    this.#members.add(replica, item.bornAt)
    if (key.startsWith(COUNTER)) this.#receivedAmount(replica, key.slice(COUNTER.length), item)
    else if (key === MEMBER_PREFIX) this.#receivedNews(replica, item)
    const gone = foldedBy(item)
    if (gone !== undefined) this.#learnFold(gone, replica, markOf(item))
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

  /** Called by the node. After a long absence, another replica may have the entries of its logs under other names. */
  mayIntroduce(to: string): boolean {
    return !this.#absence.isLong || this.#absence.isCleared(to)
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
    for (const log of clocks.keys()) this.#markAgain(log)
    const knowsAny = [...clocks.keys()].some((log) => log.startsWith(`${KIND}-`))
    const reported = clocks.get(this.#own.name)
    if (knowsAny && !this.#absence.isLong) this.#own.setKnown(reported !== undefined)
    // replicas that are cut off together report each other's logs, too, while the others take over their entries
    if (reported !== undefined) this.#absence.reported(node, reported, this.#members.isQuorum(this.#own.name))
    if (this.#absence.isLong) this.#returnTo(node, clocks)
    for (const log of this.#own.names) this.#held.record(log, node, clocks.get(log) ?? 0)
  }

  /**
   * Called after a long absence. A process that knows all that a replica knows has the mark of its own name if its entries
   * were taken over, unless so many followed that the mark has ended. Then it starts under a new name, counts again only
   * what no other replica had, and drops the logs that the replica does not have.
   */
  #returnTo(node: string, clocks: Clocks): void {
    const { logs, clock } = this.#node
    if (logs.isBehind(clocks)) return
    if (!this.#marks.mayLack(clock.now() - this.#absence.ms)) {
      const { name } = this.#own
      const others = this.#members.isQuorum(name) ? this.#members.liveNodes(name) : undefined
      this.#absence.met(node, { hasLog: clocks.has(name), others })
      return
    }
    const gone = this.#own.name
    // a replica that was away, too, has the logs that must be dropped
    if (clocks.has(gone)) return
    const reached = this.#absence.reportedClock
    this.#startOver()
    this.#markFolded(gone, reached)
    for (const name of this.#members.names.filter((one) => one !== this.#own.name && !clocks.has(one))) {
      this.#members.remove(name)
      this.entries.drop(name)
      logs.forget(name)
    }
  }

  #receivedAmount(replica: string, id: string, { value, bornAt }: LogItem): void {
    const amount = amountOf(value)
    const { clock } = this.#node
    if (amount) this.entries.put(replica, id, amount, clock.wall() - (clock.now() - bornAt))
  }

  #receivedNews(replica: string, item: LogItem): void {
    const news = parseStatus(item)
    if (!news) return
    this.#members.update(replica, news, item.bornAt)
    this.#hasNews = true
    // a replica that was voted gone stays gone: only under a new name may this process take over entries
    if (news.votes.has(this.#own.name)) this.#startOver(this.#own.votes)
  }

  #learnFold(gone: string, by: string, mark: FoldMark): void {
    if (gone === this.#own.name) this.#startOver()
    const freed = this.#marks.add(gone, by, mark)
    this.#members.remove(gone)
    this.#own.former(gone)?.recountAfter(mark.clock, (id, amount) => this.#countAgain(id, amount))
    this.#dropped.drop(gone)
    this.entries.drop(gone)
    for (const name of freed) this.#restore(name)
    this.#hasNews = true
  }

  /** Writes the mark of a take-over again when a peer still has the log, because the mark has been removed since. */
  #markAgain(gone: string): void {
    const mark = this.#marks.endedOf(gone)
    if (!mark || this.#isClosed) return
    this.#markFolded(gone, mark.clock)
  }

  /** Writes that this replica has taken over a log up to a clock. */
  #markFolded(gone: string, clock: number): void {
    this.#learnFold(gone, this.#own.name, this.#own.writeMark(gone, clock))
  }

  /** Restores a log whose entries were lost: the replica that took them over was gone before most others had them. */
  #restore(name: string): void {
    this.#own.former(name)?.revertRecount((id, amount) => this.#countAgain(id, amount))
    for (const item of this.#dropped.restored(name)) this.received(name, item)
  }

  #countAgain(id: string, amount: CounterAmount): void {
    if (amount.epoch >= this.entries.epochOf(id)) this.count(id, amount)
  }

  /**
   * Continues under a new name. `votes` is empty by default, because votes of a replica that was taken over do not
   * count.
   */
  #startOver(votes: MemberStatus['votes'] = new Map()): void {
    if (this.#isClosed) return
    this.#own.startOver(votes)
    this.#absence.restart()
  }

  /**
   * Whether this replica may vote from now on: most replicas with a vote know it, or it is old enough. That is `deadAfterMs`
   * if no other replica has a vote, and `STUCK_TIMES` as long otherwise.
   */
  #mayVote(): boolean {
    const { name, ageMs } = this.#own
    const isKnown = this.#members.isKnownToMost(name, (node) => this.#held.clockOf(name, node) > 0)
    return (isKnown ?? ageMs >= this.#deadAfterMs) ? true : ageMs >= STUCK_TIMES * this.#deadAfterMs
  }

  /** Votes on which replicas are gone, and takes over the ones that all live replicas left to this one. */
  #vote(): void {
    const clockOf = (replica: string): number => this.#node.logs.logOf(replica)?.clock ?? 0
    const votes = this.#members.votes(this.#own.name, clockOf)
    const isNew = !this.#own.isAdmitted && this.#mayVote()
    if (isNew) this.#own.admit()
    if (isNew || JSON.stringify([...votes]) !== JSON.stringify([...this.#own.votes])) this.#own.writeStatus({ votes })
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
      this.#marks.add(name, own, this.#own.writeMark(name, mark.clock, mark.bornAt))
    }
    // written last: a replica that has this item has all items before it
    this.#markFolded(gone, clock)
  }

  #beat(): void {
    // all peers reject the log of this replica: it was taken over, and this replica rejects the log that contains the
    // mark
    if (this.#own.unknownMs >= this.#deadAfterMs) this.#startOver()
    this.#vote()
    this.#own.writeStatus()
    const { entries, name } = this.#own
    const isQuorum = this.#members.isQuorum(name)
    entries.isCutOff = !isQuorum
    const nodes = this.#members.liveNodes(name)
    if (isQuorum) entries.prune(Math.min(entries.log.clock, ...nodes.map((node) => this.#held.clockOf(name, node))))
    this.#held.keepOnly(this.#members.nodes)
    this.#forgetOld()
    for (const name of this.#dropped.forgotten(KEPT_TIMES * this.#deadAfterMs)) {
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
}
