import type { LogItem } from '../log/replica-log.ts'
import type { GossipNode } from '../node/gossip-node.ts'
import { isLogOf } from '../node/gossip-topics.ts'
import type { CounterAmount } from './counter-amount.ts'
import { amountJson } from './counter-amount.ts'
import { type FleetMembers, type MemberStatus, statusJson } from './fleet-members.ts'
import type { FoldMark } from './fold-marks.ts'
import { FormerEntries } from './former-entries.ts'
import { OwnEntries } from './own-entries.ts'

/** Kind of the logs of counters. The keys of their items denote amounts, statuses, and marks of taken-over replicas. */
export const KIND = 'counters'
export const COUNTER: string = `${KIND}:id:`
export const MEMBER_PREFIX: string = `${KIND}:member`
export const FOLDED: string = `${KIND}:folded:`

/** Returns the log that was taken over according to a mark, or undefined if the item is not a mark of a log of counters. */
export function foldedBy({ key, value }: LogItem): string | undefined {
  const name = key.startsWith(FOLDED) ? key.slice(FOLDED.length) : ''
  return isLogOf(KIND, name) && Number.isSafeInteger(value) ? name : undefined
}

/** Returns the mark in an item for which `foldedBy` returns a replica. */
export function markOf({ value, bornAt, clock }: LogItem): FoldMark {
  return { clock: value as number, bornAt, at: clock }
}

/**
 * This process as a counting replica. It has one name at a time; former names are kept until their entries are taken
 * over.
 */
export class OwnReplica {
  readonly #node: GossipNode
  readonly #members: FleetMembers
  readonly #former = new Map<string, FormerEntries>()
  #entries: OwnEntries
  #since: number
  /** Process time at which the current name was adopted. */
  #startedAt: number
  #isAdmitted = false
  /** Since when peers have reported clocks of counter logs, but not of this replica's log. */
  #unknownSince: number | undefined

  constructor(node: GossipNode, members: FleetMembers) {
    this.#node = node
    this.#members = members
    this.#entries = new OwnEntries(node.openLog(KIND))
    this.#since = node.clock.wall()
    this.#startedAt = node.clock.now()
    this.writeStatus()
  }

  get entries(): OwnEntries {
    return this.#entries
  }

  get name(): string {
    return this.#entries.name
  }

  /** All names of this process, the current one first. */
  get names(): readonly string[] {
    return [this.name, ...this.#former.keys()]
  }

  get votes(): MemberStatus['votes'] {
    return this.#members.statusOf(this.name)?.votes ?? new Map()
  }

  /** Whether this replica may vote on which replicas are gone. */
  get isAdmitted(): boolean {
    return this.#isAdmitted
  }

  /** Time since this process adopted its current name, in ms. */
  get ageMs(): number {
    return this.#node.clock.now() - this.#startedAt
  }

  /** Time for which peers have known counter logs but not that of this replica, in ms; 0 if they know it. */
  get unknownMs(): number {
    return this.#unknownSince === undefined ? 0 : this.#node.clock.now() - this.#unknownSince
  }

  /** Records whether a peer that has counter logs knows the log of this replica. */
  setKnown(isKnown: boolean): void {
    if (isKnown) this.#unknownSince = undefined
    else this.#unknownSince ??= this.#node.clock.now()
  }

  former(name: string): FormerEntries | undefined {
    return this.#former.get(name)
  }

  forget(name: string): void {
    this.#former.delete(name)
  }

  /** Lets this replica vote from now on. */
  admit(): void {
    this.#isAdmitted = true
  }

  /** Continues under a new name, with entries that start at 0. */
  startOver(votes: MemberStatus['votes']): void {
    this.flush()
    this.writeStatus({ hasLeft: true })
    this.#former.set(this.name, new FormerEntries(this.#entries))
    this.#node.logs.release(this.#entries.log)
    this.#entries = new OwnEntries(this.#node.openLog(KIND))
    this.#since = this.#node.clock.wall()
    this.#startedAt = this.#node.clock.now()
    this.#isAdmitted = false
    this.#unknownSince = undefined
    this.writeStatus({ votes })
  }

  writeStatus({ hasLeft = false, votes = this.votes }: Partial<Pick<MemberStatus, 'hasLeft' | 'votes'>> = {}): void {
    const news = { node: this.#node.replica, since: this.#since, hasLeft, isAdmitted: this.#isAdmitted, votes }
    const { bornAt } = this.#node.write(MEMBER_PREFIX, statusJson(news), this.#entries.log)
    this.#members.update(this.name, news, bornAt)
  }

  /** Writes that this replica has taken over a log up to a clock. `bornAt`: process time; default: now. */
  writeMark(gone: string, clock: number, bornAt?: number): FoldMark {
    return markOf(this.#node.write(FOLDED + gone, clock, this.#entries.log, bornAt))
  }

  /** Writes all amounts that have changed since the last flush. */
  flush(): void {
    const { log } = this.#entries
    const write = (id: string, amount: CounterAmount): number =>
      this.#node.write(COUNTER + id, amountJson(amount), log).clock
    this.#entries.flush(write)
  }
}
