import type { BanSnapshot } from '../report/ban-snapshot.ts'
import type { BanReport } from '../report/process-report.ts'

/** Maximum number of bans. Above it the ban that was reported first is dropped. */
const MAX_BANS = 1_000
const MAX_SHOWN = 100

/** Running bans that the processes have reported. */
export class FleetBans {
  readonly #bans = new Map<string, BanReport>()

  absorb(reports: readonly BanReport[]): void {
    for (const ban of reports) {
      const name = nameOf(ban)
      this.#bans.delete(name)
      this.#bans.set(name, ban)
    }
    for (const oldest of this.#bans.keys()) {
      if (this.#bans.size <= MAX_BANS) return
      this.#bans.delete(oldest)
    }
  }

  /** Removes the bans of a key, in one policy or in all. */
  lifted(id: string, policy: string | undefined): void {
    for (const [name, ban] of this.#bans) {
      if (ban.id === id && (policy === undefined || ban.policy === policy)) this.#bans.delete(name)
    }
  }

  /** Returns the bans that run at `at`: at most 100, the latest first. */
  snapshot(at: number): BanSnapshot[] {
    for (const [name, { endsAt }] of this.#bans) if (endsAt <= at) this.#bans.delete(name)
    return [...this.#bans.values()].reverse().slice(0, MAX_SHOWN)
  }
}

function nameOf({ policy, id }: BanReport): string {
  return `${policy}\0${id}`
}
