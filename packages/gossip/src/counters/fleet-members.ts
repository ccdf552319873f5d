import type { Clock } from '@sluice/limiter-core'
import type { LogItem } from '../log/replica-log.ts'
import { decided, type FoldVote, isMost, isQuorum, type Voter, votesOf } from './fold-votes.ts'

/** Status that a replica reports periodically. */
export interface MemberStatus {
  /** Name of its gossip node. */
  readonly node: string
  /** When the replica adopted its name, in epoch ms. */
  readonly since: number
  readonly hasLeft: boolean
  readonly isAdmitted: boolean
  readonly votes: ReadonlyMap<string, FoldVote>
}

/** Status of a replica that has reported none: it is gone, so its entries are taken over. */
const NO_STATUS: MemberStatus = {
  node: '',
  since: Number.POSITIVE_INFINITY,
  hasLeft: true,
  isAdmitted: false,
  votes: new Map(),
}

interface Member extends MemberStatus {
  /** Process time at which the status was written. */
  readonly bornAt: number
}

/** Replicas whose entries have not been taken over, live or gone. */
export class FleetMembers {
  readonly #clock: Clock
  readonly #deadAfterMs: number
  readonly #members = new Map<string, Member>()

  constructor(clock: Clock, deadAfterMs: number) {
    this.#clock = clock
    this.#deadAfterMs = deadAfterMs
  }

  /** Adds a replica that has not reported its status, unless it is known. */
  add(replica: string, bornAt: number): void {
    if (!this.#members.has(replica)) this.update(replica, NO_STATUS, bornAt)
  }

  update(replica: string, news: MemberStatus, bornAt: number): void {
    this.#members.set(replica, { ...news, bornAt })
  }

  statusOf(replica: string): MemberStatus | undefined {
    return this.#members.get(replica)
  }

  /** Names of all replicas whose entries have not been taken over. */
  get names(): readonly string[] {
    return [...this.#members.keys()]
  }

  /** Number of replicas that have reported their status recently. */
  get live(): number {
    return [...this.#members.values()].filter((one) => this.#isLive(one)).length
  }

  /** Nodes of all replicas whose entries have not been taken over. */
  get nodes(): ReadonlySet<string> {
    return new Set(Array.from(this.#members.values(), ({ node }) => node))
  }

  /** Removes a replica whose entries were taken over. */
  remove(replica: string): void {
    this.#members.delete(replica)
  }

  /** Whether enough others have reported recently, so that this replica is not the one that is cut off. */
  isQuorum(self: string): boolean {
    return isQuorum(this.#voters(self))
  }

  /** Whether most of the other admitted replicas know the log of `self`; undefined if no other one is admitted. */
  isKnownToMost(self: string, knows: (node: string) => boolean): boolean | undefined {
    const others = Array.from(this.#members, ([name, one]) => ({ ...one, name })).filter(
      ({ name, isAdmitted, hasLeft }) => name !== self && isAdmitted && !hasLeft,
    )
    return others.length === 0 ? undefined : isMost(others, ({ node }) => knows(node))
  }

  /** Nodes of the other live replicas. */
  liveNodes(self: string): readonly string[] {
    return [...this.#members].filter(([name, one]) => name !== self && this.#isLive(one)).map(([, { node }]) => node)
  }

  votes(self: string, clockOf: (replica: string) => number): ReadonlyMap<string, FoldVote> {
    return votesOf(self, this.#voters(self), clockOf)
  }

  decided(self: string, clockOf: (replica: string) => number): readonly string[] {
    return decided(self, this.#voters(self), clockOf)
  }

  /**
   * Returns the largest clock that a vote contains for the log of a replica. Up to it, the log may still be replicated.
   */
  votedClock(replica: string): number {
    const clocks = [...this.#members.values()].map(({ votes }) => votes.get(replica)?.clock ?? 0)
    return Math.max(0, ...clocks)
  }

  #voters(self: string): Voter[] {
    return Array.from(this.#members, ([name, one]) => {
      const { since, hasLeft, isAdmitted, votes } = one
      const isSelf = name === self
      const isFresh = isSelf || this.#isLive(one, this.#deadAfterMs / 2)
      return { name, since, hasLeft, isAdmitted, votes, isFresh, isLive: isSelf || this.#isLive(one) }
    })
  }

  #isLive({ hasLeft, bornAt }: Member, withinMs = this.#deadAfterMs): boolean {
    return !hasLeft && this.#clock.now() - bornAt < withinMs
  }
}

/** Returns a status as JSON. */
export function statusJson({ node, since, hasLeft, isAdmitted, votes }: MemberStatus): readonly unknown[] {
  const entries = Array.from(votes, ([name, { folder, clock }]) => [name, folder, clock])
  return [node, since, hasLeft ? 1 : 0, isAdmitted ? 1 : 0, entries]
}

/** Parses a status; returns undefined if `statusJson` does not write such a value. */
export function parseStatus({ value }: LogItem): MemberStatus | undefined {
  if (!Array.isArray(value) || value.length !== 5) return undefined
  const [node, since, left, admitted, votes] = value as readonly unknown[]
  if (typeof node !== 'string' || !Number.isFinite(since) || !Array.isArray(votes)) return undefined
  const read = votes.filter(isVote).map(([name, folder, clock]) => [name, { folder, clock }] as const)
  return { node, since: Number(since), hasLeft: left === 1, isAdmitted: admitted === 1, votes: new Map(read) }
}

function isVote(value: unknown): value is readonly [name: string, folder: string, clock: number] {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [name, folder, clock] = value as readonly unknown[]
  return typeof name === 'string' && typeof folder === 'string' && Number.isSafeInteger(clock)
}
