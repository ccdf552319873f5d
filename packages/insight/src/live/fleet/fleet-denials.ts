import type { DenialReport } from '../report/process-report.ts'
import type { DenialSnapshot } from '../report/snapshot.ts'

/** Maximum number of keys from all other processes. */
const MAX_KEYS = 1_000
/** Maximum number of processes per key. */
const MAX_PROCESSES = 16

/** Recent denials in other processes, by key id. */
export class FleetDenials {
  readonly #byId = new Map<string, Map<string, readonly DenialSnapshot[]>>()

  /** Replaces the denials that the process reported earlier for the same keys. */
  absorb(process: string, reports: readonly DenialReport[]): void {
    for (const { id, denials } of reports) {
      const byProcess = this.#byId.get(id) ?? new Map<string, readonly DenialSnapshot[]>()
      this.#byId.delete(id)
      this.#byId.set(id, byProcess)
      if (byProcess.size < MAX_PROCESSES || byProcess.has(process)) byProcess.set(process, denials)
    }
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= MAX_KEYS) return
      this.#byId.delete(oldest)
    }
  }

  of(id: string): DenialSnapshot[] {
    return [...(this.#byId.get(id)?.values() ?? [])].flat()
  }
}
