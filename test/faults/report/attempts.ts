import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Findings } from './findings.ts'
import type { Form, Row } from './row.ts'

/** The longest stall that an idle process sees on a machine that is not busy. */
const QUIET_MS = 20
const ATTEMPTS = 4

/**
 * Runs a row of the table and returns its findings. If the row failed while the test process or an application was
 * stalled, the machine was too busy for a valid measurement, and the row runs again, at most three times.
 */
export async function findingsOf<Bench>(row: Row<Bench>, bench: Bench, form: Form): Promise<Findings> {
  for (let attempt = 1; ; attempt++) {
    const findings = new Findings()
    const here = monitorEventLoopDelay({ resolution: 1 })
    here.enable()
    try {
      await row.run(bench, findings, form)
    } catch (error) {
      findings.failed(error)
    }
    here.disable()
    findings.stalled(here.max / 1e6)
    if (findings.misses.length === 0 || findings.stalledMs <= QUIET_MS || attempt === ATTEMPTS) return findings
  }
}
