import { boundedKey } from '../../bounded-key.ts'
import { type BanReport, MAX_REPORTED_BANS } from '../report/process-report.ts'
import type { KeyNames } from '../report/top-keys.ts'

/** Bans that this process began since the last report: the first 50. */
export class RecentBans {
  #bans: BanReport[] = []

  /** Adds the data of a `ban` event. `at`: ms since 1970. */
  add({ key, policy, ms, level }: Readonly<Record<string, unknown>>, at: number, names: KeyNames): void {
    if (this.#bans.length >= MAX_REPORTED_BANS || typeof key !== 'string') return
    const bounded = boundedKey(key)
    this.#bans.push({
      id: names.id(bounded),
      key: names.shown(bounded),
      policy: String(policy),
      endsAt: at + Number(ms),
      level: Number(level),
    })
  }

  take(): BanReport[] {
    const bans = this.#bans
    this.#bans = []
    return bans
  }
}
