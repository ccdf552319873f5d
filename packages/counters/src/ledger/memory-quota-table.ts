import { accountPlace } from './account-place.ts'
import type {
  AccountChange,
  AccountId,
  EntryQuery,
  QuotaTable,
  StoredAccount,
  StoredEntry,
  StoredNotice,
  StoredUsage,
  StrandedQuery,
  StrandedUnits,
  UsageQuery,
} from './quota-table.ts'
import { stateHash } from './state-hash.ts'

interface Row extends StoredAccount {
  readonly dueAt: number | undefined
}

interface Notice extends StoredNotice {
  claimedAt: number
  isDelivered: boolean
}

const STRANDED: readonly string[] = ['stranded', 'reported', 'credit']

/**
 * Quota accounts in memory, which are lost when the process ends. It is the reference implementation for other tables.
 */
export class MemoryQuotaTable implements QuotaTable {
  readonly #now: () => number
  readonly #rows = new Map<string, Row>()
  readonly #entries: StoredEntry[] = []
  readonly #usage = new Map<string, StoredUsage>()
  readonly #notices = new Map<string, Notice>()

  /** `now` returns epoch ms. */
  constructor(now: () => number) {
    this.#now = now
  }

  async read(ids: readonly AccountId[]): ReturnType<QuotaTable['read']> {
    return { now: this.#now(), accounts: ids.flatMap((id) => this.#rows.get(accountPlace(id)) ?? []) }
  }

  async commit(changes: readonly AccountChange[], together = false): ReturnType<QuotaTable['commit']> {
    const now = this.#now()
    const current = changes.map((change) => this.#isCurrent(change, now))
    const written = together && current.includes(false) ? current.map(() => false) : current
    for (const [index, change] of changes.entries()) if (written[index]) this.#write(change, now)
    return { now, written }
  }

  async usedToken(id: AccountId, token: string): Promise<StoredEntry | undefined> {
    return this.#entries.find((entry) => isOf(entry, id) && entry.token === token)
  }

  async due(names: readonly string[], limit: number): Promise<readonly AccountId[]> {
    const now = this.#now()
    return [...this.#rows.values()]
      .filter(({ name, dueAt }) => names.includes(name) && dueAt !== undefined && dueAt <= now)
      .slice(0, limit)
  }

  async usage({ name, key, from, until, after, limit }: UsageQuery): Promise<readonly StoredUsage[]> {
    const lines = [...this.#usage.values()].filter(
      (line) => line.name === name && (key ?? line.key) === line.key && line.hour >= from && line.hour < until,
    )
    lines.sort((one, other) => compared(one, other))
    return lines.filter((line) => after === undefined || compared(after, line) < 0).slice(0, limit)
  }

  async entries({ name, key, after, limit }: EntryQuery): Promise<readonly StoredEntry[]> {
    const found = this.#entries.filter((entry) => entry.name === name && (key ?? entry.key) === entry.key)
    return found.filter(({ number }) => number > after).slice(0, limit)
  }

  async stranded({ name, key, limit }: StrandedQuery): Promise<readonly StrandedUnits[]> {
    const sums = new Map<string, StrandedUnits>()
    for (const entry of this.#entries) {
      if (entry.name !== name || (key ?? entry.key) !== entry.key || !STRANDED.includes(entry.kind)) continue
      const { ref = '', period = '' } = entry as { readonly ref?: string; readonly period?: string }
      const place = JSON.stringify([entry.key, ref, period])
      const sum = sums.get(place) ?? { name, key: entry.key, ref, period, units: 0, at: entry.at }
      sums.set(place, { ...sum, units: sum.units + entry.units })
    }
    return [...sums.values()].filter(({ units }) => units > 0).slice(0, limit)
  }

  async undelivered(names: readonly string[], ageMs: number, limit: number): Promise<readonly StoredNotice[]> {
    const now = this.#now()
    const late = [...this.#notices.values()].filter(
      (one) => names.includes(one.name) && !one.isDelivered && one.claimedAt <= now - ageMs,
    )
    const claimed = late.slice(0, limit)
    for (const notice of claimed) notice.claimedAt = now
    return claimed.map(({ claimedAt, isDelivered, ...notice }) => notice)
  }

  async delivered(ids: readonly string[]): Promise<void> {
    for (const notice of this.#notices.values()) if (ids.includes(notice.id)) notice.isDelivered = true
  }

  #isCurrent(change: AccountChange, now: number): boolean {
    const { from, until, version, basedOn, token } = change
    const row = this.#rows.get(accountPlace(change))
    const isSame = version === (row?.version ?? 0) + 1 && basedOn === (row && stateHash(row.state))
    return now >= from && now < until && isSame && !this.#isUsed(change, token)
  }

  #isUsed(id: AccountId, token: string | null | undefined): boolean {
    return typeof token === 'string' && this.#entries.some((entry) => isOf(entry, id) && entry.token === token)
  }

  #write(change: AccountChange, now: number): void {
    const { name, key, version, state, dueAt, entries, usage, notices } = change
    this.#rows.set(accountPlace(change), { name, key, version, state, dueAt })
    for (const entry of entries) {
      if (this.#isUsed(change, entry.token)) continue
      this.#entries.push({ ...entry, name, key, at: now, number: this.#entries.length + 1 })
    }
    for (const line of usage) {
      const place = `${accountPlace(change)}${line.hour}`
      const kept = this.#usage.get(place) ?? { name, key, hour: line.hour, units: 0, stranded: 0, toppedUp: 0 }
      kept.units += line.units
      kept.stranded += line.stranded
      kept.toppedUp += line.toppedUp
      this.#usage.set(place, kept)
    }
    for (const notice of notices) {
      if (!this.#notices.has(notice.id)) this.#notices.set(notice.id, { ...notice, claimedAt: now, isDelivered: false })
    }
  }
}

function isOf(entry: AccountId, { name, key }: AccountId): boolean {
  return entry.name === name && entry.key === key
}

function compared(one: Pick<StoredUsage, 'key' | 'hour'>, other: Pick<StoredUsage, 'key' | 'hour'>): number {
  return Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) || one.hour - other.hour
}
