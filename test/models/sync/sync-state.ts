/** Numbers of a small fleet. The window of the limit does not end. */
export type SyncSize = Readonly<Record<'processes' | 'limit', number>> & Budget
/**
 * Restarts of the ledger without its data, processes that are killed, and batches that arrive twice, arrive after they
 * were given up, or lose their reply.
 */
type Budget = Readonly<Record<'losses' | 'kills' | 'faults', number>>

/** Usage of all processes as of a reply that was requested at `at`. */
export type Known = Readonly<Record<'used' | 'at', number>>
/** A batch on its way to the ledger, sent at `sentAt`. */
export interface Batch extends Readonly<Record<'number' | 'units' | 'sentAt', number>> {
  readonly known: Known | undefined
  readonly isAfterLoss: boolean
  readonly isAwaited: boolean
}

/**
 * `used` includes `waiting` units, which are in no batch, and was requested at `askedAt`; `own`: units that the process
 * admitted; `confirmed`: largest usage in a reply; `number`: of its last batch; `last`: of its last batch in the ledger.
 */
export interface Process
  extends Readonly<
    Record<'used' | 'waiting' | 'own' | 'confirmed' | 'askedAt' | 'lostAt' | 'number' | 'last', number>
  > {
  readonly isAlive: boolean
  /** The batch that has not been answered. `isSent`: a reply is awaited. */
  readonly batch: { readonly units: number; readonly isAfterLoss: boolean; readonly isSent: boolean } | undefined
  readonly batches: readonly Batch[]
}

/** `doubt`: units of batches that were counted, and whose reply was lost together with the data. */
export interface SyncState extends Budget, Readonly<Record<'counted' | 'doubt' | 'unreported' | 'now', number>> {
  /** Usage that processes have reported since the ledger lost its data, and when the first report arrived. */
  readonly reported: { readonly used: number; readonly since: number } | undefined
  readonly processes: readonly Process[]
}

export const UNUSED: Process = {
  ...{ used: 0, waiting: 0, own: 0, confirmed: 0, askedAt: 0, lostAt: 0, number: 0, last: 0 },
  ...{ isAlive: true, batch: undefined, batches: [] },
}

/** Largest numbers of batches that matter. Numbers above them have the same effects, before and after a loss. */
const LARGEST_LAST = 2
const LARGEST_NUMBER = 4

/** Removes differences without effects: batches without effects are dropped, instants become ranks, and numbers of batches are bounded. */
export function normalSync(all: SyncState, isNew: (batch: Batch, last: number) => boolean): SyncState {
  const useful = (process: Process): Process => ({
    ...process,
    batches: process.batches.filter((batch) => batch.isAwaited || isNew(batch, process.last)),
  })
  const state = { ...all, processes: all.processes.map(useful) }
  const instants = new Set([0, state.reported?.since ?? 0])
  for (const { askedAt, lostAt, batches } of state.processes) {
    for (const instant of [askedAt, lostAt]) instants.add(instant)
    for (const { sentAt, known } of batches) instants.add(sentAt).add(known?.at ?? 0)
  }
  const ordered = [...instants].sort((one, other) => one - other)
  const rank = (instant: number): number => ordered.indexOf(instant)
  const { reported } = state
  return {
    ...state,
    now: ordered.length,
    reported: reported && { ...reported, since: rank(reported.since) },
    processes: state.processes.map((process) => {
      const { last, number } = process
      const shift = Math.max(0, last > 0 ? last - LARGEST_LAST : number - LARGEST_NUMBER)
      const batches = process.batches.map((batch) => ({
        ...batch,
        number: batch.number - shift,
        sentAt: rank(batch.sentAt),
        known: batch.known && { ...batch.known, at: rank(batch.known.at) },
      }))
      const instants = { askedAt: rank(process.askedAt), lostAt: rank(process.lostAt) }
      return { ...process, ...instants, number: number - shift, last: Math.max(0, last - shift), batches }
    }),
  }
}
