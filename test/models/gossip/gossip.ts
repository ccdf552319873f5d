import { decided, type FoldVote, type Voter, votesOf } from '../../../packages/gossip/src/counters/fold-votes.ts'
import { type Model, type Step, textOf } from '../explorer.ts'
import type { GossipSize, GossipState, Log, Mark, Replica } from './gossip-state.ts'

/** The rules that give each replica that is gone one folder. */
export const GOSSIP_RULES = {
  votes: votesOf as typeof votesOf,
  decided: decided as typeof decided,
  /** Whether a replica leaves its name when it sees a vote against it. */
  leavesWhenVoted: true,
}

const EMPTY: Log = { clock: 0, votes: [], marks: [] }
const nameOf = (replica: number): string => `r${replica}`
const numberOf = (name: string): number => Number(name.slice(1))

/**
 * Votes on replicas that are gone, and marks of replicas that were taken over (docs/decisions/049), with the functions
 * of the code. A replica receives logs from another one at any time, as far as that replica has them. Replicas that
 * return start over under a new name, which has no vote yet, so that the model ends them.
 */
export function gossipModel(
  { replicas: count, kills, silences }: GossipSize,
  changed: Partial<typeof GOSSIP_RULES> = {},
): Model<GossipState> {
  const rules = { ...GOSSIP_RULES, ...changed }

  function* next(state: GossipState): Iterable<Step<GossipState>> {
    for (const [at, replica] of state.replicas.entries()) {
      if (!replica.isAlive) continue
      const become = (after: Replica, rest: Partial<GossipState> = {}): GossipState => ({
        ...state,
        ...rest,
        replicas: state.replicas.with(at, after),
      })
      for (const [from, other] of state.replicas.entries()) {
        if (from === at || !other.isAlive) continue
        yield [`${at} receives the logs of ${from}`, become(received(at, replica, from, other))]
      }
      const voted = vote(at, replica)
      if (voted !== replica) yield [`${at} votes: ${textOfLog(voted.logs[at])}`, become(voted)]
      if (state.silences > 0) {
        const ages = replica.ages.map((age, one) => (one === at ? 0 : Math.min(2, age + 1)))
        yield [`${at} has no news for a while`, become({ ...replica, ages }, { silences: state.silences - 1 })]
      }
      if (state.kills > 0) yield [`${at} is killed`, become({ ...replica, isAlive: false }, { kills: state.kills - 1 })]
    }
  }

  function received(at: number, replica: Replica, from: number, other: Replica): Replica {
    const folded = foldedOf(replica.logs)
    // replicas reject logs that were taken over
    const isNews = (log: Log, one: number): boolean =>
      one !== at && log.clock > replica.logs[one].clock && !folded.has(one)
    const logs = replica.logs.map((log, one) => (isNews(other.logs[one], one) ? other.logs[one] : log))
    const ages = replica.ages.map((age, one) => (one === from || isNews(other.logs[one], one) ? 0 : age))
    const isGone =
      foldedOf(logs).has(at) ||
      (rules.leavesWhenVoted && logs.some(({ votes }, one) => one !== at && votes.some(([gone]) => gone === at)))
    return { isAlive: !isGone, logs, ages }
  }

  /** Returns the replica after it has voted, and taken over the replicas that all others left to it. */
  function vote(at: number, replica: Replica): Replica {
    const self = nameOf(at)
    const clockOf = (name: string): number => replica.logs[numberOf(name)].clock
    const own = replica.logs[at]
    const votes = [...rules.votes(self, votersOf(at, replica), clockOf)].map(
      ([gone, { folder, clock }]) => [numberOf(gone), numberOf(folder), clock] as const,
    )
    const isNew = JSON.stringify(votes) !== JSON.stringify(own.votes)
    let after = isNew ? withLog(at, replica, { ...own, votes, clock: own.clock + 1 }) : replica
    for (const name of rules.decided(self, votersOf(at, after), clockOf)) {
      const { clock, marks, ...log } = after.logs[at]
      const mark = { gone: numberOf(name), clock: clockOf(name), at: clock + 1 }
      after = withLog(at, after, { ...log, marks: [...marks, mark], clock: clock + 1 })
    }
    return after
  }

  function votersOf(at: number, { logs, ages }: Replica): Voter[] {
    const folded = foldedOf(logs)
    return logs.flatMap((log, one): Voter[] => {
      if (folded.has(one)) return []
      const isSelf = one === at
      const votes = new Map(
        log.votes.map(([gone, folder, clock]): [string, FoldVote] => [nameOf(gone), { folder: nameOf(folder), clock }]),
      )
      const status = { name: nameOf(one), since: one, isAdmitted: true, hasLeft: false, votes }
      return [{ ...status, isLive: isSelf || ages[one] < 2, isFresh: isSelf || ages[one] < 1 }]
    })
  }

  /** Returns the replicas that were taken over according to these logs. */
  function foldedOf(logs: readonly Log[]): ReadonlySet<number> {
    return new Set(
      logs.flatMap(({ marks }, by) => marks.filter((mark) => !isVoid(logs, by, mark)).map(({ gone }) => gone)),
    )
  }

  /** Whether the log with a mark was itself taken over, without the mark. */
  function isVoid(logs: readonly Log[], by: number, { at }: Mark): boolean {
    return logs.some(({ marks }) => marks.some(({ gone, clock }) => gone === by && clock < at))
  }

  function violation({ replicas }: GossipState): string | undefined {
    const logs = replicas.map((replica, at) => replica.logs[at])
    const folds = logs.flatMap(({ marks }, by) => marks.map((mark) => ({ ...mark, by })))
    for (const { gone, by } of folds) {
      const folders = folds.filter((one) => one.gone === gone && !isVoid(logs, one.by, one))
      if (folders.length > 1) return `replica ${gone} was taken over by ${folders.map((one) => one.by).join(' and ')}`
      if (folds.some((one) => one.gone === by && one.by === gone))
        return `replicas ${gone} and ${by} have taken over each other`
    }
    return undefined
  }

  const fresh: Replica = {
    isAlive: true,
    logs: new Array<Log>(count).fill(EMPTY),
    ages: new Array<number>(count).fill(0),
  }
  const key = ({ replicas, ...rest }: GossipState): string => `${textOf(rest)}${replicas.map(textOf).join('')}`
  return { start: { kills, silences, replicas: new Array<Replica>(count).fill(fresh) }, next, violation, key }
}

function withLog(at: number, replica: Replica, log: Log): Replica {
  return { ...replica, logs: replica.logs.with(at, log) }
}

function textOfLog({ votes, marks }: Log): string {
  const taken = marks.map(({ gone, clock }) => `has taken over ${gone} up to ${clock}`)
  return [...votes.map(([gone, folder]) => `${folder} for ${gone}`), ...taken].join(', ')
}
