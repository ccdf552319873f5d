import { defaultAlgorithm } from '../algorithms/policy-forms.ts'
import type { Backend, BanTerms, Counter, Policy } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import { PolicyVariants } from '../policy/policy-variants.ts'
import { processWideMap } from '../process/process-wide.ts'
import { banMs, topLevelOf } from './ban-length.ts'

/** The counters by which a policy bans keys, on the backend of the policy, so that they are shared like its counts. */
export interface OpenBan {
  /** Name of the policy. */
  readonly policy: string
  readonly terms: BanTerms
  /** Counts strikes. The strike that leaves nothing remaining bans its key. */
  readonly strikes: Counter
  /** Counts bans, for the duration of the next one. Undefined if all bans are equally long. */
  readonly offences: Counter | undefined
  /** Counters whose `resetAfterMs` is the rest of a ban: one for all durations, or one for each if `isSlotted`. */
  readonly running: readonly Counter[]
  /** Whether the backend answers synchronously, so that a ban is read for each request. */
  readonly isSynchronous: boolean
  /** The end of the last ban, if all bans are begun in this process; undefined for bans of several processes. */
  readonly latest: LatestBan | undefined
  /** Whether the backend counts in time slots, so that a unit cannot be charged to an earlier time. */
  readonly isSlotted: boolean
}

/** Shared by all limiters that ban keys by the same counter. No ban runs after `endsAt`, a process time. */
interface LatestBan {
  endsAt: number
}

const latestBans = processWideMap<Backend, Map<string, LatestBan>>(Symbol.for('sluice.latestBans@1'))

const DAY_MS = 86_400_000
/**
 * Window of the counter of all bans: a ban of N ms is a unit whose window ends in N ms. It is the same for all terms, so
 * that other terms leave running bans as they are, and much longer than the longest ban, of 366 days.
 */
const BAN_WINDOW_MS = 16 * 366 * DAY_MS
/** Number of durations for which a backend with time slots has counters. */
const MOST_SLOTTED = 16
/** Large enough for the policies of a fleet of this many processes. */
const SLOTTED_LIMIT = 1_000

/**
 * Opens the counters of a policy, and adds to `closes` what closes them. `nameOf` returns the name of a counter with a
 * cell layout. Returns undefined without terms. Throws `SLUICE_BAD_POLICY` if the backend cannot ban, or not for so many
 * different durations.
 */
export function openBan(
  { name }: Pick<Policy, 'name'>,
  terms: BanTerms | undefined,
  backend: Backend,
  closes: (() => void)[],
  nameOf: (layout: string) => string,
): OpenBan | undefined {
  if (!terms) return undefined
  // shared counts that are known without a call are added up later, by the time slots of their takes
  const isSynchronous = backend.synchronous === true
  const isSlotted = isSynchronous && backend.perProcess !== true
  checkBackend(name, terms, backend, isSlotted)
  const open = (part: string, limit: number, windowMs: number, algorithm: Policy['algorithm']): Counter => {
    // no policy can have this name, because it contains a character beyond ASCII
    const policy: Policy = { name: `${name} – ${part}`, algorithm, limit, windowMs }
    const variants = new PolicyVariants([policy])
    const counter = backend.open(variants.compile(policy), `${nameOf(variants.layoutName)}:${part}`)
    closes.push(() => counter.close?.())
    return counter
  }
  const top = topLevelOf(terms)
  const { after, withinMs, forgetMs } = terms
  const strikes = open('strikes', after, withinMs, defaultAlgorithm(after, backend))
  const offences = top === 0 ? undefined : open('offences', top + 1, forgetMs, 'sliding-window')
  const windows = isSlotted ? Array.from({ length: top + 1 }, (_, level) => banMs(terms, level)) : [BAN_WINDOW_MS]
  const running = windows.map((windowMs) =>
    isSlotted
      ? open(`bans ${windowMs}`, SLOTTED_LIMIT, windowMs, 'sliding-window')
      : open('bans', 1, windowMs, 'sliding-window'),
  )
  const latest = backend.perProcess && isSynchronous ? latestBan(backend, running[0].name) : undefined
  return { policy: name, terms, strikes, offences, running, isSynchronous, isSlotted, latest }
}

function latestBan(backend: Backend, counter: string): LatestBan {
  const ofBackend = latestBans().get(backend) ?? new Map<string, LatestBan>()
  latestBans().set(backend, ofBackend)
  const latest = ofBackend.get(counter) ?? { endsAt: Number.NEGATIVE_INFINITY }
  ofBackend.set(counter, latest)
  return latest
}

/** Returns the ban with each counter replaced by another in front of it, such as a failover counter. */
export function banInFront(ban: OpenBan, frontOf: (counter: Counter) => Counter): OpenBan {
  const { strikes, offences, running } = ban
  return { ...ban, strikes: frontOf(strikes), offences: offences && frontOf(offences), running: running.map(frontOf) }
}

function checkBackend(
  name: string,
  terms: BanTerms,
  { name: backend, algorithms: supported }: Backend,
  isSlotted: boolean,
): void {
  // only backends with time slots support no logs and still count each key
  if (supported?.includes(isSlotted ? 'sliding-window' : 'sliding-log') === false) {
    throw new SluiceError(
      'SLUICE_BAD_POLICY',
      `policy '${name}': ban: expected a backend that counts each key exactly, ` +
        `received backend ${shown(backend, 'name')}; set another backend of the policy, such as redisBackend(client)`,
    )
  }
  const durations = topLevelOf(terms) + 1
  if (!isSlotted || durations <= MOST_SLOTTED) return
  throw new SluiceError(
    'SLUICE_BAD_POLICY',
    `policy '${name}': ban: growth: expected at most ${MOST_SLOTTED} different durations on ` +
      `backend ${shown(backend, 'name')}, received ${durations}; use a larger growth or a smaller max`,
  )
}
