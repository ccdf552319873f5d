import type {
  AppliedBatch,
  CounterBatch,
  CounterTable,
  GroupOutcome,
  LedgerEntry,
  LedgerRead,
  TokenGroup,
} from '../ledger/counter-ledger.ts'
import { endOfPrefix, idOf, storedId } from '../ledger/stored-id.ts'
import type { LedgerStatements } from './ledger-statements.ts'

type Query = (text: string, values: unknown[]) => Promise<readonly unknown[]>

/** Row as returned by clients, some of which return 64-bit integers as strings or bigints. */
interface EntryRow {
  readonly id: string
  readonly value: unknown
  readonly version: unknown
  readonly updatedAt: unknown
}

interface AppliedRow extends EntryRow {
  readonly kind: 'moved' | 'used' | 'counted'
}

interface ReadRow extends EntryRow {
  readonly kind: 'entry' | 'writer'
}

interface TokenRow {
  readonly token: string
  readonly body: string
  readonly writer: string
  readonly number: unknown
}

/** The counters of one name in PostgreSQL. */
export class SqlTable implements CounterTable {
  readonly #name: string
  readonly #statements: LedgerStatements
  readonly #query: Query

  constructor(name: string, statements: LedgerStatements, query: Query) {
    this.#name = name
    this.#statements = statements
    this.#query = query
  }

  async apply(batch: CounterBatch): Promise<AppliedBatch> {
    const rows = (await this.#query(this.#statements.apply, this.#valuesOf(batch))) as readonly AppliedRow[]
    const isNew = rows.some(({ kind }) => kind === 'moved')
    const used = new Set(rows.filter(({ kind }) => kind === 'used').map(({ id }) => id))
    const counted = rows.filter(({ kind }) => kind === 'counted').map(entryOf)
    return { entries: await this.#withMissing(batch, counted), outcomes: await this.#outcomes(batch, isNew, used) }
  }

  async read(ids: readonly string[], writer = ''): Promise<LedgerRead> {
    const values = [this.#name, ids.map(storedId), writer]
    const rows = (await this.#query(this.#statements.read, values)) as readonly ReadRow[]
    const found = new Map(rows.flatMap((row) => (row.kind === 'entry' ? [[idOf(row.id), entryOf(row)]] : [])))
    return {
      entries: ids.map((id) => found.get(id) ?? { id, value: 0, version: 0, updatedAt: undefined }),
      number: Number(rows.find(({ kind }) => kind === 'writer')?.value ?? 0),
    }
  }

  async list(prefix: string, { after, limit }: Parameters<CounterTable['list']>[1]): Promise<readonly LedgerEntry[]> {
    const values = [...this.#rangeOf(prefix), after === undefined ? null : storedId(after), limit]
    return ((await this.#query(this.#statements.list, values)) as readonly EntryRow[]).map(entryOf)
  }

  async sum(prefix: string): Promise<number> {
    const [row] = await this.#query(this.#statements.sum, this.#rangeOf(prefix))
    return Number((row as { readonly sum: unknown }).sum)
  }

  async clear(id: string, { deleted }: { readonly deleted: boolean }): Promise<LedgerEntry> {
    const [row] = await this.#query(this.#statements.clear, [this.#name, storedId(id), deleted])
    return entryOf(row as EntryRow)
  }

  #rangeOf(prefix: string): unknown[] {
    const from = storedId(prefix)
    return [this.#name, from, endOfPrefix(from) ?? null]
  }

  #valuesOf({ writer, number, deltas, groups }: CounterBatch): unknown[] {
    const given = [
      ...deltas.map(({ id, amount, ageMs }) => ({ id, amount, ageMs, token: '' })),
      ...groups.flatMap(({ token, ageMs, amounts }) =>
        Array.from(amounts, ([id, amount]) => ({ id, amount, ageMs, token: token?.token ?? '' })),
      ),
    ]
    const tokens = groups.flatMap(({ token }) => token ?? [])
    return [
      this.#name,
      writer,
      number,
      given.map(({ id }) => storedId(id)),
      given.map(({ amount }) => amount),
      given.map(({ ageMs }) => ageMs),
      given.map(({ token }) => token),
      tokens.map(({ token }) => token),
      tokens.map(({ body }) => body),
    ]
  }

  /**
   * Adds the entries that the batch did not change: after a later reset, a used token, or if the batch was sent again.
   */
  async #withMissing(
    { deltas, groups }: CounterBatch,
    counted: readonly LedgerEntry[],
  ): Promise<readonly LedgerEntry[]> {
    const missing = new Set(deltas.map(({ id }) => id))
    for (const { amounts } of groups) for (const id of amounts.keys()) missing.add(id)
    for (const { id } of counted) missing.delete(id)
    return missing.size === 0 ? counted : [...counted, ...(await this.read([...missing])).entries]
  }

  async #outcomes(batch: CounterBatch, isNew: boolean, used: ReadonlySet<string>): Promise<readonly GroupOutcome[]> {
    const unknown = batch.groups.flatMap(({ token }) => (token && !used.has(token.token) ? token.token : []))
    if (unknown.length === 0) return batch.groups.map(() => 'counted')
    const rows = (await this.#query(this.#statements.tokens, [this.#name, unknown])) as readonly TokenRow[]
    const before = new Map(rows.map((row) => [row.token, row]))
    return batch.groups.map(({ token }) => outcomeOf(batch, isNew, token, token && before.get(token.token)))
  }
}

/** Returns the outcome of a group. `before` is the stored row of its token, if this call did not insert it. */
function outcomeOf(
  { writer, number }: CounterBatch,
  isNew: boolean,
  token: TokenGroup['token'],
  before: TokenRow | undefined,
): GroupOutcome {
  if (!token || !before) return 'counted'
  const isOurs = !isNew && before.writer === writer && Number(before.number) === number
  if (isOurs) return 'counted'
  return before.body === token.body ? 'duplicate' : 'reused'
}

function entryOf({ id, value, version, updatedAt }: EntryRow): LedgerEntry {
  const time = Math.round(Number(updatedAt))
  return { id: idOf(id), value: Number(value), version: Number(version), updatedAt: time }
}
