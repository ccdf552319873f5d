/** What one replica says of one that is gone: who is to take over its entries, and how far this one knows its log. */
export interface FoldVote {
  readonly folder: string
  readonly clock: number
}

/** A replica whose entries nobody took over yet, as another one sees it. */
export interface Voter {
  readonly name: string
  /** Epoch ms by its own clock: an order of age that all see alike. */
  readonly since: number
  /** Whether there was news of it for as long as none is taken for gone. */
  readonly isLive: boolean
  /** Whether there was news of it in half of that time: when nobody is heard any more, all others end to be so before one is gone. */
  readonly isFresh: boolean
  /** Whether most of those that were admitted before know it: others have no say in who is gone. */
  readonly isAdmitted: boolean
  /** Whether it said that it ends. */
  readonly hasLeft: boolean
  readonly votes: ReadonlyMap<string, FoldVote>
}

/**
 * Whether most of all that are admitted and have not left are fresh: whoever sees fewer is cut off, and takes nobody for
 * gone, however many replicas it started since.
 */
export function isQuorum(voters: readonly Voter[]): boolean {
  const all = voters.filter(({ hasLeft, isAdmitted }) => isAdmitted && !hasLeft)
  return isMost(all, ({ isFresh }) => isFresh)
}

/** Whether `holds` for more than half of them, or for half and the oldest (Jajodia and Mutchler, Dynamic voting algorithms, 1990). */
export function isMost<V extends Pick<Voter, 'since' | 'name'>>(
  voters: readonly V[],
  holds: (voter: V) => boolean,
): boolean {
  const most = 2 * voters.filter(holds).length - voters.length
  const first = oldest(voters)
  return most > 0 || (most === 0 && first !== undefined && holds(first))
}

/**
 * The votes of `self` from now on. A vote for a folder stands until the entries of that folder were taken over themselves
 * without those it was voted for, or until it gives way to an older folder: it says so by its own vote, and from then on
 * never folds that replica. So there is one folder for each, whatever is late or lost.
 */
export function votesOf(
  self: string,
  voters: readonly Voter[],
  clockOf: (replica: string) => number,
): ReadonlyMap<string, FoldVote> {
  const ballot = new Ballot(self, voters)
  const votes = voters.flatMap(({ name }) => {
    const folder = ballot.folderFor(name)
    return folder === undefined ? [] : [[name, { folder, clock: clockOf(name) }] as const]
  })
  return new Map(votes)
}

/** Whom `self` is to fold now: all that live have voted for it, and it knows the log as far as any of them. */
export function decided(self: string, voters: readonly Voter[], clockOf: (replica: string) => number): string[] {
  const live = voters.filter(({ isLive }) => isLive)
  if (!isQuorum(voters)) return []
  const isDecided = ({ name }: Voter): boolean => {
    const votes = live.flatMap((voter) => voter.votes.get(name) ?? [])
    const isUnanimous = votes.length === live.length && votes.every(({ folder }) => folder === self)
    return isUnanimous && votes.every(({ clock }) => clock <= clockOf(name))
  }
  return voters.filter(isDecided).map(({ name }) => name)
}

class Ballot {
  readonly #self: string
  readonly #voters: ReadonlyMap<string, Voter>
  readonly #live: readonly Voter[]
  readonly #mayBegin: boolean

  constructor(self: string, voters: readonly Voter[]) {
    this.#self = self
    this.#voters = new Map(voters.map((voter) => [voter.name, voter]))
    this.#live = voters.filter(({ isLive }) => isLive)
    this.#mayBegin = isQuorum(voters)
  }

  /** Undefined where this replica is not taken for gone. */
  folderFor(name: string): string | undefined {
    const given = this.#voters.get(this.#self)?.votes.get(name)?.folder
    if (given === undefined) return this.#isGone(name) && this.#mayBegin ? this.#oldestLive(name) : undefined
    const folder = this.#voters.get(given)
    if (!folder) return this.#mayBegin ? this.#oldestLive(name) : given
    const other = this.#voters.get(this.#otherThan(folder, name) ?? '')
    return other && isOlder(other, folder) ? other.name : given
  }

  #isGone(name: string): boolean {
    return name !== this.#self && this.#voters.get(name)?.isLive === false
  }

  #oldestLive(gone: string): string | undefined {
    return oldest(this.#live.filter(({ name }) => name !== gone))?.name
  }

  /** Whom a folder itself votes for; this replica for the oldest that somebody else votes for. */
  #otherThan(folder: Voter, name: string): string | undefined {
    if (folder.name !== this.#self) return folder.votes.get(name)?.folder
    const named = this.#live.flatMap(({ votes }) => this.#voters.get(votes.get(name)?.folder ?? '') ?? [])
    return oldest(named.filter(({ isLive }) => isLive))?.name
  }
}

function oldest<V extends Pick<Voter, 'since' | 'name'>>(voters: readonly V[]): V | undefined {
  return voters.reduce<V | undefined>((one, other) => (one && isOlder(one, other) ? one : other), undefined)
}

function isOlder(one: Pick<Voter, 'since' | 'name'>, other: Pick<Voter, 'since' | 'name'>): boolean {
  return one.since === other.since ? one.name < other.name : one.since < other.since
}
