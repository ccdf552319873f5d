import type { QuotaJournal } from './quota-journal.ts'
import type { QuotaState, WriterState } from './quota-state.ts'

/** How long a writer that is silent is listed. */
const WRITER_MS = 24 * 3_600_000

/** What a state says of its writers, and of the use of its periods by their labels. */
interface Usage {
  readonly writers: readonly WriterState[]
  readonly used: ReadonlyMap<string, number>
}

/** What a state said before a write, what that makes of it, and what is entered beside it. */
interface Write {
  readonly before: Usage
  readonly state: QuotaState
  readonly journal: QuotaJournal
}

/** To be taken before a write changes the state. */
export function usageOf({ writers, periods }: QuotaState): Usage {
  return { writers, used: new Map(periods.map(({ label, used }) => [label, used])) }
}

/** Lists a write under its writer, with what it charges, and forgets writers of long ago. */
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

/** Whoever gives units back under a token does so again where that was lost. */
function refunded({ entries }: QuotaJournal, label: string): number {
  return entries.reduce(
    (sum, { kind, period, units }) => (kind === 'refund' && period === label ? sum - units : sum),
    0,
  )
}
