import type { Metric } from '@sluice/limiter-core'

/** Units that one tier has counted and the ledger does not have yet. */
export interface Owed {
  readonly ids: number
  /** Age of the oldest unit in ms; 0 if nothing is owed. */
  readonly ageMs: number
  /** Units that are unaccounted for: 0 unless some were lost or doubled. */
  readonly auditDifference: number
}

export const NOTHING_OWED: Owed = { ids: 0, ageMs: 0, auditDifference: 0 }

/**
 * Returns gauges of what a tier owes to the ledger. `tier`: `process` for this process, `redis` for what all processes
 * have counted there.
 */
export function owedMetrics(tier: 'process' | 'redis', { ids, ageMs, auditDifference }: Owed): readonly Metric[] {
  const gauge = (name: string, help: string, value: number): Metric => {
    return { name, help, type: 'gauge', samples: [{ labels: { tier }, value }] }
  }
  return [
    gauge('owed_ids', 'Counters with units that the ledger does not have yet.', ids),
    gauge('flush_lag_ms', 'Age of the oldest unit that the ledger does not have yet, in milliseconds.', ageMs),
    gauge(
      'audit_difference',
      'Counted units that are neither waiting nor in the ledger; 0 unless some were lost or doubled.',
      auditDifference,
    ),
  ]
}
