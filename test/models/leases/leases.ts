import { isStale, type LeaseRequest, spentSince } from '@sluice/fleet/leases'
import { cached, type Model, type Step, textOf } from '../explorer.ts'
import {
  type Ask,
  type Booked,
  IDLE,
  type LeasesSize,
  type LeasesState,
  normalLease,
  type Process,
  UNUSED,
} from './leases-state.ts'

/** The rules that admit no more than the limit. Where the code has a function for a rule, it is that function. */
export const LEASE_RULES = {
  isStale: (ask: Pick<Ask, 'seq'>, booked: Booked): boolean => isStale(ask as LeaseRequest, booked),
  spentSince: (ask: Pick<Ask, 'base' | 'spent'>, booked: Booked): number => spentSince(ask as LeaseRequest, booked),
  /** Units that are charged for a report of spent units, if the leased units change by `more`. */
  charged: (spent: number, _more: number): number => spent,
  /** Units that are charged when units are granted, and when their lease ends; the latter until the owner reports. */
  chargedAtGrant: (_granted: number): number => 0,
  chargedAtEnd: (units: number): number => units,
  settledAtEnd: (units: number): number => units,
  withheld: (leased: number): number => leased,
  /** Ticks for which the owner may spend a lease, when the reply arrives `age` ticks after its request. */
  ownTicks: (ticks: number, age: number): number => ticks - age,
  /** Whether a reply may arrive although the ledger has lost the write. */
  losesWrites: false,
}

const sumOf = (units: readonly number[]): number => units.reduce((sum, one) => sum + one, 0)

/**
 * Leases with expiry and return: a `HeldLease` in each process, and a `LeaseLedger`. Processes ask for and return any
 * number of units at any time, which includes every rule for the size of a lease. The clock of each owner is the slowest
 * that is permitted, so that its lease ends with the one in the ledger: owners with other clocks do nothing at the end.
 * A reply arrives at once or is lost: a late reply has the effects of a process that does nothing for a while.
 */
export function leasesModel(
  { ticks, limit, window, kills, faults, ...size }: LeasesSize,
  changed: Partial<typeof LEASE_RULES> = {},
): Model<LeasesState> {
  const rules = { ...LEASE_RULES, ...changed }
  const isEndless = window === Number.POSITIVE_INFINITY
  const nothing = new Array<number>(isEndless ? 1 : window).fill(0)
  const processes = new Array<Process>(size.processes).fill({ ...IDLE, isAlive: true, asks: [], booked: UNUSED })

  function* next(state: LeasesState): Iterable<Step<LeasesState>> {
    for (const [at, process] of state.processes.entries()) {
      const { isAlive, held, spent, base, left, awaited, age, asks, booked } = process
      const become = (change: Partial<Process>, rest: Partial<LeasesState> = {}): LeasesState => ({
        ...state,
        ...rest,
        processes: state.processes.with(at, normal({ ...process, ...change })),
      })
      const failed = { faults: state.faults - 1 }
      for (const [index, ask] of asks.entries()) {
        const [lease, granted, charged] = answer(state, booked, ask)
        const isAwaited = ask.seq === awaited
        const applied = { booked: lease, awaited: isAwaited ? 0 : awaited }
        const others = { asks: asks.toSpliced(index, 1) }
        const renewed = {
          base: ask.seq,
          spent: spent - ask.spent,
          left: Math.max(0, rules.ownTicks(ticks, age)),
          awaited: 0,
        }
        const replied = isAwaited ? { ...applied, ...renewed, held: held + granted } : applied
        const event = `${at}: request ${ask.seq} arrives`
        yield [`${event}, granted ${granted}`, become({ ...replied, ...others }, { charged })]
        if (state.faults > 0)
          yield [`${event}, granted ${granted}, and will again`, become(replied, { charged, ...failed })]
        if (state.faults > 0 && isAwaited)
          yield [
            `${event}, granted ${granted}, its reply is lost`,
            become({ ...applied, ...others }, { charged, ...failed }),
          ]
        if (rules.losesWrites && isAwaited) yield [`${event}, its write is lost`, become({ ...renewed, ...others })]
      }
      if (!isAlive) continue
      if (held > 0 && left > 0)
        yield [
          `${at}: spends a unit`,
          become({ held: held - 1, spent: spent + 1 }, { admitted: plus(state.admitted, 1) }),
        ]
      const seq = 1 + Math.max(base, booked.seq, ...asks.map((ask) => ask.seq))
      for (let keep = 0; awaited === 0 && keep <= held; keep++) {
        for (let want = 0; want <= limit - keep; want++) {
          const sent = { held: keep, awaited: seq, asks: [...asks, { seq, base, spent, keep, want }] }
          yield [`${at}: request ${seq}: spent ${spent}, keeps ${keep}, wants ${want}`, become(sent)]
        }
      }
      if (awaited > 0 && state.faults > 0) yield [`${at}: gives up request ${awaited}`, become({ awaited: 0 }, failed)]
      if (state.kills > 0) yield [`${at}: is killed`, become({ ...IDLE, isAlive: false }, { kills: state.kills - 1 })]
    }
    yield ['a tick passes', passed(state)]
  }

  /** Returns the lease after a request, the granted units, and the charged units. */
  function answer(state: LeasesState, booked: Booked, ask: Ask): readonly [Booked, number, LeasesState['charged']] {
    if (rules.isStale(ask, booked)) return [booked, 0, state.charged]
    const { seq, base, keep, want } = ask
    const units = rules.spentSince(ask, booked) - booked.settled
    // units that were not spent are refunded as of the end of the lease
    const reported = plus(state.charged, rules.charged(units, keep - booked.units), units < 0 ? -booked.left : 0)
    const leased = state.processes.reduce((sum, one) => sum + one.booked.units, keep - booked.units)
    const granted = Math.max(0, Math.min(want, limit - sumOf(reported) - rules.withheld(leased)))
    const lease = { units: keep + granted, left: ticks, seq, base, charged: ask.spent, settled: 0 }
    return [lease, granted, plus(reported, rules.chargedAtGrant(granted))]
  }

  function passed(state: LeasesState): LeasesState {
    const aged = (units: readonly number[]): readonly number[] => (isEndless ? units : [0, ...units.slice(0, -1)])
    let charged = aged(state.charged)
    const after = state.processes.map((process) => {
      const { booked, left, awaited, age } = process
      const { units } = booked
      const end = booked.left === 1 ? { units: 0, settled: rules.settledAtEnd(units) } : {}
      if (booked.left === 1) charged = plus(charged, rules.chargedAtEnd(units))
      const lease = { ...booked, left: Math.max(isEndless ? 0 : -window, booked.left - 1), ...end }
      return normal({
        ...process,
        left: Math.max(0, left - 1),
        age: awaited > 0 && rules.ownTicks(ticks, age) > 0 ? age + 1 : age,
        booked: lease,
      })
    })
    return { ...state, charged, admitted: aged(state.admitted), processes: after }
  }

  const normal = cached((process: Process) => normalLease(process, rules.isStale))

  /** Processes admit no more than the limit in any window. Without crashes, exactly the admitted units are charged in the end. */
  function violation({ admitted, charged, processes: all }: LeasesState): string | undefined {
    if (sumOf(admitted) > limit) return `${sumOf(admitted)} units admitted of ${limit}`
    const isSettled = ({ isAlive, spent, asks, booked }: Process): boolean =>
      isAlive && spent + asks.length + booked.units + booked.settled === 0
    if (!isEndless || !all.every(isSettled) || sumOf(charged) === sumOf(admitted)) return undefined
    return `${sumOf(charged)} units charged, ${sumOf(admitted)} admitted`
  }

  const key = ({ processes: all, ...rest }: LeasesState): string => `${textOf(rest)}${all.map(textOf).sort().join('')}`
  return { start: { charged: nothing, admitted: nothing, kills, faults, processes }, next, violation, key }
}

function plus(units: readonly number[], more: number, ago = 0): readonly number[] {
  return more === 0 ? units : units.map((one, at) => (at === ago ? one + more : one))
}
