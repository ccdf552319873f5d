import type { CounterAmount } from './counter-amount.ts'
import { amountJson } from './counter-amount.ts'
import { type FleetMembers, type MemberNews, newsJson } from './fleet-members.ts'
import { FormerEntries } from './former-entries.ts'
import type { GossipNode } from './gossip-node.ts'
import { OwnEntries } from './own-entries.ts'

/** Keys of items in the logs of counters: amounts, news of who lives, and marks of whom a replica took over. */
export const KIND = 'counters'
export const COUNTER: string = `${KIND}:id:`
export const NEWS: string = `${KIND}:member`
export const FOLDED: string = `${KIND}:folded:`

/** This process as a replica that counts: under one name at a time, and under former ones until these are taken over. */
export class OwnReplica {
  readonly #node: GossipNode
  readonly #members: FleetMembers
  readonly #former = new Map<string, FormerEntries>()
  #entries: OwnEntries
  #since: number
  /** Of the clock. */
  #startedAt: number
  #isAdmitted = false
  /** Since when others tell how far they know logs, and do not know that of this one. */
  #unknownSince: number | undefined

  constructor(node: GossipNode, members: FleetMembers) {
    this.#node = node
    this.#members = members
    this.#entries = new OwnEntries(node.openLog(KIND))
    this.#since = node.clock.wall()
    this.#startedAt = node.clock.now()
    this.writeNews()
  }

  get entries(): OwnEntries {
    return this.#entries
  }

  get name(): string {
    return this.#entries.name
  }

  /** The present one first. */
  get names(): readonly string[] {
    return [this.name, ...this.#former.keys()]
  }

  get votes(): MemberNews['votes'] {
    return this.#members.newsOf(this.name)?.votes ?? new Map()
  }

  /** Whether it has a say in who is gone. */
  get isAdmitted(): boolean {
    return this.#isAdmitted
  }

  /** Since it has this name, in ms. */
  get ageMs(): number {
    return this.#node.clock.now() - this.#startedAt
  }

  /** For how long others have known logs of counters, and not this one, in ms. */
  get unknownMs(): number {
    return this.#unknownSince === undefined ? 0 : this.#node.clock.now() - this.#unknownSince
  }

  /** Another replica knows the log of this one, or does not though it knows some. */
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

  /** From now on it has a say. */
  admit(): void {
    this.#isAdmitted = true
  }

  /** Goes on under a new name, with entries that begin at 0. */
  startOver(votes: MemberNews['votes']): void {
    this.flush()
    this.writeNews({ hasLeft: true })
    this.#former.set(this.name, new FormerEntries(this.#entries))
    this.#node.logs.release(this.#entries.log)
    this.#entries = new OwnEntries(this.#node.openLog(KIND))
    this.#since = this.#node.clock.wall()
    this.#startedAt = this.#node.clock.now()
    this.#isAdmitted = false
    this.#unknownSince = undefined
    this.writeNews({ votes })
  }

  writeNews({ hasLeft = false, votes = this.votes }: Partial<Pick<MemberNews, 'hasLeft' | 'votes'>> = {}): void {
    const news = { node: this.#node.replica, since: this.#since, hasLeft, isAdmitted: this.#isAdmitted, votes }
    const { bornAt } = this.#node.write(NEWS, newsJson(news), this.#entries.log)
    this.#members.learn(this.name, news, bornAt)
  }

  /** Writes what it counted, and is not written yet. */
  flush(): void {
    const { log } = this.#entries
    const write = (id: string, amount: CounterAmount): number =>
      this.#node.write(COUNTER + id, amountJson(amount), log).clock
    this.#entries.flush(write)
  }
}
