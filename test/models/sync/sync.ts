import { type Model, type Step, textOf } from '../explorer.ts'
import { SYNC_RULES, syncViolation } from './sync-rules.ts'
import { type Batch, normalSync, type Process, type SyncSize, type SyncState, UNUSED } from './sync-state.ts'

/**
 * The ledger of synced limits, with restarts: a `SyncPartition` and `UsageReports` in each process, and a `SyncLedger`.
 * Each process decides by what it knows, and may report at any time. A reply arrives at once or is lost: a process that
 * receives it later takes the same units as one that takes them before its batch arrives.
 */
export function syncModel(
  { processes, limit, ...budget }: SyncSize,
  changed: Partial<typeof SYNC_RULES> = {},
): Model<SyncState> {
  const rules = { ...SYNC_RULES, ...changed }

  const normal = (state: SyncState): SyncState => normalSync(state, rules.isNew)

  function* next(state: SyncState): Iterable<Step<SyncState>> {
    for (const [at, process] of state.processes.entries()) {
      const { isAlive, used, waiting, own, number, batch, batches } = process
      const become = (change: Partial<Process>, rest: Partial<SyncState> = {}): SyncState =>
        normal({ ...state, ...rest, processes: state.processes.with(at, { ...process, ...change }) })
      const failed = { faults: state.faults - 1 }
      const unanswered = batch && { ...batch, isSent: false }
      for (const [index, one] of batches.entries()) {
        const { counted, reported, last, isLost } = answer(state, process, one)
        const others = { batches: batches.toSpliced(index, 1) }
        const isAwaited = one.isAwaited
        const ledger = { counted, reported, now: state.now + 1 }
        const replied = isAwaited ? { last, ...receive(process, one, counted, isLost) } : { last }
        const event = `${at}: batch ${index} arrives`
        yield [event, become({ ...replied, ...others }, ledger)]
        if (state.faults > 0)
          yield [
            `${event}, and will again`,
            become(
              { ...replied, batches: batches.with(index, { ...one, isAwaited: false }) },
              { ...ledger, ...failed },
            ),
          ]
        if (state.faults > 0 && isAwaited)
          yield [
            `${event}, its reply is lost`,
            become({ last, ...others, batch: unanswered }, { ...ledger, ...failed }),
          ]
        if (rules.losesWrites && isAwaited)
          yield [`${event}, its write is lost`, become({ ...receive(process, one, counted, false), ...others })]
      }
      if (!isAlive) continue
      if (used < limit) yield [`${at}: takes a unit`, become({ used: used + 1, waiting: waiting + 1, own: own + 1 })]
      if (!batch?.isSent) yield [`${at}: sends a batch${batch ? ' again' : ''}`, send(state, at)]
      if (batch?.isSent && state.faults > 0)
        yield [`${at}: gives up its batch`, become({ batch: unanswered, batches: unawaited(batches) }, failed)]
      if (state.kills > 0) {
        const lost = { kills: state.kills - 1, unreported: state.unreported + waiting + (batch?.units ?? 0) }
        yield [
          `${at}: is killed`,
          become({ ...UNUSED, isAlive: false, own, last: process.last, number, batches: unawaited(batches) }, lost),
        ]
      }
    }
    if (state.losses > 0) yield ['the ledger restarts empty', restarted(state)]
  }

  function send(state: SyncState, at: number): SyncState {
    const process = state.processes[at]
    const { batch, number, waiting, askedAt, lostAt, batches } = process
    const sent = batch ? { ...batch, isSent: true } : { units: waiting, isAfterLoss: false, isSent: true }
    const after = {
      ...process,
      batch: sent,
      number: batch ? rules.numberAgain(number) : number + 1,
      waiting: batch ? waiting : 0,
    }
    const used = rules.reported(after)
    const known = lostAt > 0 && askedAt <= lostAt && askedAt > 0 && used > 0 ? { used, at: askedAt } : undefined
    const message = {
      number: after.number,
      units: sent.units,
      known,
      isAfterLoss: sent.isAfterLoss,
      sentAt: state.now,
      isAwaited: true,
    }
    return normal({
      ...state,
      now: state.now + 1,
      processes: state.processes.with(at, { ...after, batches: [...batches, message] }),
    })
  }

  /** Returns the ledger after a batch. */
  function answer(state: SyncState, { last }: Process, batch: Batch) {
    const isLost = rules.isLost(batch, last)
    const { counted, reported } = state
    if (isLost || !rules.isNew(batch, last)) return { counted, reported, last, isLost }
    const { known, units, number } = batch
    const before = known && (reported ?? { used: counted, since: state.now })
    const missing = known && before ? rules.missing(known, before) : 0
    const after = before ? { ...before, used: before.used + missing } : reported
    return { counted: counted + missing + units, reported: after, last: number, isLost }
  }

  /** Returns the changes of a process that receives a reply. */
  function receive(process: Process, { sentAt }: Batch, counted: number, isLost: boolean): Partial<Process> {
    const { batch, number, confirmed } = process
    if (isLost && batch)
      return { lostAt: sentAt, number: number + 1, batch: { ...batch, isAfterLoss: true, isSent: false } }
    return {
      batch: undefined,
      used: rules.adopted(counted, process),
      askedAt: sentAt,
      confirmed: Math.max(confirmed, counted),
    }
  }

  function restarted(state: SyncState): SyncState {
    // units of batches that were counted, and whose processes do not know it
    const doubt = state.processes.reduce(
      (sum, { batch, number, last }) => sum + (batch && last >= number ? batch.units : 0),
      state.doubt,
    )
    const empty = { counted: 0, reported: undefined, doubt, losses: state.losses - 1 }
    const processes = state.processes.map((process) => {
      const { batch, last } = process
      // calls end with their connections
      return { ...process, last: rules.lastAfterLoss(last), batch: batch && { ...batch, isSent: false }, batches: [] }
    })
    return normal({ ...state, ...empty, processes })
  }

  const violation = (state: SyncState): string | undefined => syncViolation(state, limit, budget.losses)
  const start = {
    ...budget,
    counted: 0,
    doubt: 0,
    unreported: 0,
    now: 1,
    reported: undefined,
    processes: new Array<Process>(processes).fill(UNUSED),
  }
  const key = ({ processes: all, reported, ...rest }: SyncState): string =>
    `${textOf(rest)}${reported ? textOf(reported) : ''}${all.map(textOf).sort().join('')}`
  return { start, next, violation, key }
}

function unawaited(batches: readonly Batch[]): readonly Batch[] {
  return batches.map((batch) => ({ ...batch, isAwaited: false }))
}
