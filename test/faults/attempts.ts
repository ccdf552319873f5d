import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Findings } from './findings.ts'
import type { Form, Row } from './row.ts'

/** What a process that only ever waits is held up by on a machine that is not busy. */
const QUIET_MS = 20
const ATTEMPTS = 4

/**
 * What a row found. Where it missed something, and an application, or this process with its proxies, did not get to run
 * for long meanwhile, the machine was measured, and not us: it is run again, at most three times.
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
