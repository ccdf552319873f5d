/** Numbers of a small fleet. `window` and `ticks`: length of the window (Infinity: it does not end) and of a lease in the ledger, in ticks. */
export type LeasesSize = Readonly<Record<'processes' | 'limit' | 'window' | 'ticks', number>> & Budget
/** Processes that are killed, and requests that arrive twice, arrive after they were given up, or lose their reply. */
type Budget = Readonly<Record<'kills' | 'faults', number>>

export type Ask = Readonly<Record<'seq' | 'base' | 'spent' | 'keep' | 'want', number>>
/** A lease in the ledger: units, ticks until its end, numbers of its last request, units charged since `base` and at its end. */
export type Booked = Readonly<Record<'units' | 'left' | 'seq' | 'base' | 'charged' | 'settled', number>>

/** The lease of a process, with the ticks until its end, and the request that it awaits (0: none), with the ticks since. */
export interface Process extends Readonly<Record<'held' | 'spent' | 'base' | 'left' | 'awaited' | 'age', number>> {
  readonly isAlive: boolean
  /** Requests on their way to the ledger. */
  readonly asks: readonly Ask[]
  readonly booked: Booked
}

/** `charged` by the ledger and `admitted` by processes: units by the number of ticks since then. */
export interface LeasesState extends Budget, Readonly<Record<'charged' | 'admitted', readonly number[]>> {
  readonly processes: readonly Process[]
}

export const IDLE = { held: 0, spent: 0, base: 0, left: 0, awaited: 0, age: 0 }
export const UNUSED: Booked = { units: 0, left: 0, seq: 0, base: 0, charged: 0, settled: 0 }

/** Removes differences without effects: useless messages, ended leases, and the values of numbers that are only compared. */
export function normalLease({ booked, ...process }: Process, isStale: (ask: Ask, booked: Booked) => boolean): Process {
  const isUseful = ({ seq, ...ask }: Ask): boolean => seq === process.awaited || !isStale({ seq, ...ask }, booked)
  const asks = process.asks.filter(isUseful)
  const isCompared = process.base === booked.base || asks.some(({ base }) => base === booked.base)
  const numbers = [
    0,
    process.base,
    process.awaited,
    booked.seq,
    ...asks.flatMap(({ seq, base }) => [seq, base]),
    isCompared ? booked.base : 0,
  ]
  const ranks = [...new Set(numbers)].sort((one, other) => one - other)
  const rank = (number: number): number => ranks.indexOf(number)
  const compared = isCompared ? { base: rank(booked.base) } : { base: -1, charged: 0 }
  return {
    ...process,
    base: rank(process.base),
    awaited: rank(process.awaited),
    age: process.awaited > 0 ? process.age : 0,
    held: process.left > 0 || process.awaited > 0 ? process.held : 0,
    asks: asks.map((ask) => ({ ...ask, seq: rank(ask.seq), base: rank(ask.base) })),
    booked: {
      ...booked,
      seq: rank(booked.seq),
      left: booked.settled > 0 ? booked.left : Math.max(0, booked.left),
      ...compared,
    },
  }
}
