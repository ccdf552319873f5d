import type { DenialReport } from './process-report.ts'
import type { DenialSnapshot } from './snapshot.ts'

/** Keys of all other processes together. */
const MOST_KEYS = 1_000
/** Processes of which a key's denials are kept. */
const MOST_PROCESSES = 16

/** What other processes denied of late, by the ids of keys. */
export class FleetDenials {
  readonly #byId = new Map<string, Map<string, readonly DenialSnapshot[]>>()

  /** Of each key what a process reported last stands for what it reported before. */
  absorb(process: string, reports: readonly DenialReport[]): void {
    for (const { id, denials } of reports) {
      const byProcess = this.#byId.get(id) ?? new Map<string, readonly DenialSnapshot[]>()
      this.#byId.delete(id)
      this.#byId.set(id, byProcess)
      if (byProcess.size < MOST_PROCESSES || byProcess.has(process)) byProcess.set(process, denials)
    }
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= MOST_KEYS) return
      this.#byId.delete(oldest)
    }
  }

  of(id: string): DenialSnapshot[] {
    return [...(this.#byId.get(id)?.values() ?? [])].flat()
  }
}
