import type { Metric } from '@sluice/limiter-core'

/** What one tier has counted and the ledger does not have. */
export interface Owed {
  readonly ids: number
  /** Of the oldest unit; 0 where nothing is owed. */
  readonly ageMs: number
  /** Units that are in no book: 0 unless some were lost or doubled. */
  readonly auditDifference: number
}

export const NOTHING_OWED: Owed = { ids: 0, ageMs: 0, auditDifference: 0 }

/** `tier`: `process` for what is in this process, `redis` for what all processes have there. */
export function owedMetrics(tier: 'process' | 'redis', { ids, ageMs, auditDifference }: Owed): readonly Metric[] {
  const gauge = (name: string, help: string, value: number): Metric => {
    return { name, help, type: 'gauge', samples: [{ labels: { tier }, value }] }
  }
  return [
    gauge('owed_ids', 'Counters of which the ledger does not have all units.', ids),
    gauge('flush_lag_ms', 'Age of the oldest unit that the ledger does not have, in milliseconds.', ageMs),
    gauge('audit_difference', 'Units that were counted, do not wait and are not in the ledger: 0.', auditDifference),
  ]
}
