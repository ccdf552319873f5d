import type { QuotaJournal } from './quota-journal.ts'
import type { QuotaState, WriterState } from './quota-state.ts'

/** Time after its last write for which a writer stays listed. */
const WRITER_MS = 24 * 3_600_000

/** Writers of a state and the usage of its periods by label. */
interface Usage {
  readonly writers: readonly WriterState[]
  readonly used: ReadonlyMap<string, number>
}

/** A write: the usage before it, the new state, and the rows written with the state. */
interface Write {
  readonly before: Usage
  readonly state: QuotaState
  readonly journal: QuotaJournal
}

/** Returns the writers and usage of a state. Must be called before a write changes the state. */
export function usageOf({ writers, periods }: QuotaState): Usage {
  return { writers, used: new Map(periods.map(({ label, used }) => [label, used])) }
}

/** Records a write and its charges under its writer, and removes inactive writers. */
export function stampWriter({ before, state, journal }: Write, { writer, seq, at }: WriterState): void {
  const own = before.writers.find((one) => one.writer === writer)
  const others = state.writers.filter((one) => one.writer !== writer)
  const forgotten = others.filter((one) => at - one.at >= WRITER_MS)
  const charged = state.periods.flatMap(({ label, used }) => {
    const units = (own?.charged?.[label] ?? 0) + used - (before.used.get(label) ?? 0) + refunded(journal, label)
    return units === 0 ? [] : [[label, units] as const]
  })
  state.forgottenAt = Math.max(state.forgottenAt, ...forgotten.map((one) => one.at))
  state.writers = [
    ...others.filter((one) => !forgotten.includes(one)),
    { writer, seq, at, charged: Object.fromEntries(charged) },
  ]
}

/**
 * Returns the units refunded. They are not part of a writer's charges, because a lost refund is repeated under its
 * token.
 */
function refunded({ entries }: QuotaJournal, label: string): number {
  return entries.reduce(
    (sum, { kind, period, units }) => (kind === 'refund' && period === label ? sum - units : sum),
    0,
  )
}
