/**
 * Vote of one replica on a replica that is gone: which replica is to take over its entries (the folder), and up to
 * which clock the voter has its log.
 */
export interface FoldVote {
  readonly folder: string
  readonly clock: number
}

/** Replica whose entries have not been taken over, as another replica sees it. */
export interface Voter {
  readonly name: string
  /** When it adopted its name, in epoch ms by its own clock; an order of age that is the same for all. */
  readonly since: number
  /** Whether it has reported within `deadAfterMs`. */
  readonly isLive: boolean
  /**
   * Whether it has reported within half of `deadAfterMs`. A replica that loses contact with all others sees none of them as
   * fresh before it sees the first one as gone.
   */
  readonly isFresh: boolean
  /** Whether most of the replicas admitted before know it. Other replicas may not vote. */
  readonly isAdmitted: boolean
  /** Whether it has announced that it ended. */
  readonly hasLeft: boolean
  readonly votes: ReadonlyMap<string, FoldVote>
}

/** Number of votes up to which a replica starts to vote on a replica on which no live replica has voted. */
const MAX_STARTED = 200
/**
 * Maximum number of votes before a new vote is given, by its rank (see `firstVotes`). More than 400 votes would not fit
 * in the item with the status.
 */
const MAX_VOTES = [400, 400, 400, MAX_STARTED] as const

/**
 * Whether most of the admitted replicas that have not left are fresh. A replica that sees fewer is cut off and declares
 * no replica gone, however many replicas were started on its side since.
 */
export function isQuorum(voters: readonly Voter[]): boolean {
  const all = voters.filter(({ hasLeft, isAdmitted }) => isAdmitted && !hasLeft)
  return isMost(all, ({ isFresh }) => isFresh)
}

/**
 * Whether `holds` returns true for more than half of the voters, or for half including the oldest (Jajodia and
 * Mutchler, Dynamic voting algorithms, 1990).
 */
export function isMost<V extends Pick<Voter, 'since' | 'name'>>(
  voters: readonly V[],
  holds: (voter: V) => boolean,
): boolean {
  const most = 2 * voters.filter(holds).length - voters.length
  const first = oldest(voters)
  return most > 0 || (most === 0 && first !== undefined && holds(first))
}

/**
 * Returns the votes of `self` from now on. A vote for a folder stands until that folder was itself taken over without
 * the entries of the replica in question, or until the folder yields to an older one. A folder yields by its own vote,
 * and from then on never folds that replica. So each replica has one folder, even if messages are late or lost. If too
 * many replicas are gone, the rest of them wait until others were taken over.
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
  return new Map(votes.length > MAX_STARTED ? firstVotes(votes, self, voters) : votes)
}

type NamedVote = readonly [name: string, vote: FoldVote]

/**
 * Returns as many votes as fit, in this order: the votes of `self` so far; votes on the folders in them, which must be
 * taken over first if they are gone, too; votes on replicas on which other live replicas have voted; and others for
 * which `self` is the folder. The other replicas follow the folder: they might wait for each other forever if each
 * started with votes on different replicas.
 */
function firstVotes(votes: readonly NamedVote[], self: string, voters: readonly Voter[]): readonly NamedVote[] {
  const given = voters.find(({ name }) => name === self)?.votes ?? new Map<string, FoldVote>()
  const folders = new Set(Array.from(given.values(), ({ folder }) => folder))
  const started = new Set(voters.filter(({ isLive }) => isLive).flatMap((voter) => [...voter.votes.keys()]))
  const rankOf = (name: string): number => {
    if (given.has(name)) return 0
    if (folders.has(name)) return 1
    return started.has(name) ? 2 : 3
  }
  const ranked = votes.map((vote) => ({ vote, name: vote[0], rank: rankOf(vote[0]) }))
  ranked.sort((one, other) => one.rank - other.rank || (one.name < other.name ? -1 : 1))
  const isGiven = ({ vote: [, { folder }], rank }: (typeof ranked)[number], at: number): boolean =>
    at < MAX_VOTES[rank] && (rank < 3 || folder === self)
  return ranked.filter(isGiven).map(({ vote }) => vote)
}

/**
 * Returns the replicas that `self` must fold now: all live replicas have voted for `self`, and `self` has the log at
 * least as far as each of them.
 */
export function decided(self: string, voters: readonly Voter[], clockOf: (replica: string) => number): string[] {
  const live = voters.filter(({ isLive }) => isLive)
  if (!isQuorum(voters)) return []
  const isDecided = ({ name }: Voter): boolean => {
    const votes = live.flatMap((voter) => voter.votes.get(name) ?? [])
    const isUnanimous = votes.length === live.length && votes.every(({ folder }) => folder === self)
    return isUnanimous && votes.every(({ clock }) => clock <= clockOf(name))
  }
  // most replicas are not gone: only those with a vote of `self` are compared with all other votes
  const own = voters.find(({ name }) => name === self)?.votes
  return voters.filter((voter) => own?.get(voter.name)?.folder === self && isDecided(voter)).map(({ name }) => name)
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

  /** Returns undefined if this replica does not consider `name` gone. */
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

  /**
   * Returns the folder for which a folder itself votes. For this replica, that is the oldest live folder that others
   * vote for.
   */
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
