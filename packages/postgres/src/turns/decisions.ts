import {
  availableAfterMs,
  type Charge,
  ChargeVerdict,
  hasDenial,
  type PolicyVerdict,
  retentionMs,
} from '@sluice/limiter-core/backend'
import type { LimitRequest } from './limit-request.ts'
import { type KnownTimes, restoreKnown } from './restore-known.ts'
import { keptMs, type WorkingKey } from './working-key.ts'

/** A request and the keys of its charges, in the same order. */
export interface Decided {
  readonly request: LimitRequest
  readonly keys: readonly WorkingKey[]
  readonly times: KnownTimes
  /** Units that adjustments of this turn applied, by id and row. */
  readonly moved: Map<string, number>
}

/** Verdicts of a request, and the units that an adjustment applied for each charge. */
export interface Decision {
  readonly verdicts: readonly PolicyVerdict[]
  readonly moved: readonly number[]
}

/** Decides a request like the memory backend, and changes its keys. */
export function decide(decided: Decided): Decision {
  const { request, keys } = decided
  for (const [index, { counter }] of request.charges.entries()) keys[index].use(counter.compiled)
  if (request.operation === 'adjust') return adjustEach(decided)
  if (request.operation === 'reset') return resetEach(decided)
  return { verdicts: request.operation === 'take' ? takeEach(decided) : readEach(decided), moved: [] }
}

/** Returns the name under which an adjustment of a row is remembered in a turn. */
function idOf(id: string, name: string): string {
  return `${id}\n${name}`
}

function takeEach(decided: Decided): readonly PolicyVerdict[] {
  const { request, keys, times } = decided
  const { charges } = request
  for (const [index, { counter, known }] of charges.entries()) {
    if (known) restoreKnown(keys[index], counter.compiled, known, times)
  }
  const verdicts = readEach(decided)
  if (hasDenial(verdicts)) return verdicts
  const allFit = verdicts.every(({ allowed }) => allowed)
  return charges.map((charge, index) => {
    if (charge.advisory && !allFit) return verdicts[index]
    const key = keys[index]
    if (charge.cost > 0) {
      charge.counter.compiled.spend(key.cells, 0, times.now, charge.cost)
      key.isChanged = true
    }
    return verdictOf(charge, key, times.now, 0)
  })
}

function readEach({ request: { charges }, keys, times: { now } }: Decided): readonly PolicyVerdict[] {
  return charges.map((charge, index) => {
    const { cells } = keys[index]
    return verdictOf(charge, keys[index], now, charge.counter.compiled.waitMs(cells, 0, now, charge.cost))
  })
}

function adjustEach(decided: Decided): Decision {
  const moved: number[] = []
  const verdicts = decided.request.charges.map((charge, index) => {
    moved.push(adjust(charge, decided.keys[index], decided))
    return verdictOf(charge, decided.keys[index], decided.times.now, 0)
  })
  return { verdicts, moved }
}

/** Applies an adjustment unless an earlier call with the same id has applied it. Returns the units that were applied. */
function adjust(charge: Charge, key: WorkingKey, { request, times, moved }: Decided): number {
  const { cost, known, counter } = charge
  const { id } = request
  const before = id === undefined ? undefined : (request.applied?.get(key.name) ?? moved.get(idOf(id, key.name)))
  if (before !== undefined) return cost === 0 ? 0 : before
  if (known) restoreKnown(key, counter.compiled, known, times)
  // a refund never creates a key
  const units = cost === 0 || (cost < 0 && key.isAbsent) ? 0 : changeBy(charge, key, request.takenAt, times.now)
  if (id !== undefined && key.isChanged) moved.set(idOf(id, key.name), units)
  return units
}

function changeBy({ counter: { compiled }, cost }: Charge, key: WorkingKey, takenAt: number, now: number): number {
  const cells = key.cells.slice()
  const lifeMs = keptMs(compiled, cells, now)
  // a time in the future or NaN means now
  const units = compiled.adjust(key.cells, 0, now, cost, Number.isNaN(takenAt) ? now : Math.min(takenAt, now))
  if (units === 0 && cells.every((cell, index) => cell === key.cells[index])) return 0
  key.isChanged = true
  if (cost < 0) {
    key.refundedAt = now
    key.keepAtLeast(lifeMs)
  }
  return units
}

function resetEach({ request: { charges }, keys, times: { now } }: Decided): Decision {
  for (const [index, { counter }] of charges.entries()) {
    const key = keys[index]
    key.cells.fill(0)
    key.resetAt = now
    key.isChanged = true
    key.keepAtLeast(retentionMs(counter.compiled))
  }
  return { verdicts: [], moved: [] }
}

function verdictOf({ counter, advisory }: Charge, { cells }: WorkingKey, now: number, waitMs: number): ChargeVerdict {
  const { compiled } = counter
  const remaining = compiled.remaining(cells, 0, now)
  const resetAfterMs = compiled.resetAfterMs(cells, 0, now)
  const growsMs = availableAfterMs(compiled, cells, 0, now, remaining)
  return new ChargeVerdict(compiled.policy, advisory === true, remaining, waitMs, resetAfterMs, growsMs)
}
