import type {
  HourRange,
  MergeableGroupsPage,
  NewSketchRow,
  SketchBatch,
  SketchGroup,
  SketchRow,
  SketchTable,
  StoredSketchKind,
} from '../ledger/sketch-table.ts'
import { idOf, storedId } from '../ledger/stored-id.ts'
import type { SketchStatements } from './sketch-statements.ts'

type Query = (text: string, values: unknown[]) => Promise<readonly unknown[]>

/** Row as returned by clients, some of which return 64-bit integers as strings or bigints. */
interface SketchSqlRow {
  readonly part: unknown
  readonly firstHour: unknown
  readonly hours: unknown
  readonly bytes: string
}

interface GroupSqlRow {
  readonly id: string
  readonly first: unknown
  readonly span: unknown
}

/** The sketches of one name and kind in PostgreSQL. */
export class SqlSketchTable implements SketchTable {
  readonly #statements: SketchStatements
  readonly #query: (text: string, values: unknown[]) => Promise<readonly unknown[]>

  constructor(
    name: string,
    kind: StoredSketchKind,
    { statements, query }: { statements: SketchStatements; query: Query },
  ) {
    this.#statements = statements
    this.#query = (text, values) => query(text, [name, kind, ...values])
  }

  async claimFormat(format: string): Promise<string> {
    const [row] = await this.#query(this.#statements.claimFormat, [format])
    return (row as { readonly format: string }).format
  }

  async append({ writer, number, rows }: SketchBatch): Promise<boolean> {
    const moved = await this.#query(this.#statements.append, [
      writer,
      number,
      rows.map(({ id }) => storedId(id)),
      rows.map(({ firstHour }) => firstHour),
      rows.map(({ hours }) => hours),
      rows.map(({ bytes }) => base64Of(bytes)),
    ])
    return moved.length > 0
  }

  async read(id: string, { from, until }: HourRange): Promise<readonly SketchRow[]> {
    const rows = (await this.#query(this.#statements.read, [storedId(id), from, until])) as readonly SketchSqlRow[]
    return rows.map(({ part, firstHour, hours, bytes }) => {
      const row = { part: String(part), firstHour: Number(firstHour), hours: Number(hours) }
      return { id, ...row, bytes: Buffer.from(bytes, 'base64') }
    })
  }

  async replace(rows: readonly SketchRow[], { id, firstHour, hours, bytes }: NewSketchRow): Promise<boolean> {
    const replaced = await this.#query(this.#statements.replace, [
      storedId(id),
      rows.map((row) => row.firstHour),
      rows.map(({ part }) => part),
      firstHour,
      hours,
      base64Of(bytes),
    ])
    return replaced.length > 0
  }

  async mergeableGroups({ before, after, limit }: MergeableGroupsPage): Promise<readonly SketchGroup[]> {
    const from = after ? [storedId(after.id), after.first, after.span] : [null, null, null]
    const rows = (await this.#query(this.#statements.mergeableGroups, [
      before,
      ...from,
      limit,
    ])) as readonly GroupSqlRow[]
    return rows.map(({ id, first, span }) => ({ id: idOf(id), first: Number(first), span: Number(span) }))
  }

  async deleteBefore(before: number, keptDays: number): Promise<void> {
    await this.#query(this.#statements.deleteBefore, [before, keptDays])
  }
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
}
