import type { QuotaEntry, QuotaNotice, UsageLine } from '@sluice/counters/backend'

/** Rows that a change of an account writes in addition to its state. */
export class QuotaJournal {
  readonly entries: QuotaEntry[] = []
  readonly notices: QuotaNotice[] = []
  readonly #usage = new Map<number, UsageLine>()

  get isEmpty(): boolean {
    return this.entries.length + this.notices.length + this.usage.length === 0
  }

  get usage(): readonly UsageLine[] {
    return [...this.#usage.values()].filter(({ units, stranded, toppedUp }) => units || stranded || toppedUp)
  }

  add(hour: number, { units = 0, stranded = 0, toppedUp = 0 }: Partial<Omit<UsageLine, 'hour'>>): void {
    const line = this.#usage.get(hour) ?? { hour, units: 0, stranded: 0, toppedUp: 0 }
    line.units += units
    line.stranded += stranded
    line.toppedUp += toppedUp
    this.#usage.set(hour, line)
  }
}
