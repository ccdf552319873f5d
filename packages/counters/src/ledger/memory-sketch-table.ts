import { groupOf } from './sketch-group.ts'
import type {
  HourRange,
  MergeableGroupsPage,
  NewSketchRow,
  SketchBatch,
  SketchGroup,
  SketchRow,
  SketchTable,
} from './sketch-table.ts'

/** Sketches in memory, which are lost when the process ends. It is the reference implementation for other tables. */
export class MemorySketchTable implements SketchTable {
  readonly #rows = new Map<string, SketchRow[]>()
  readonly #numbers = new Map<string, number>()
  #format: string | undefined
  #parts = 0

  async claimFormat(format: string): Promise<string> {
    this.#format ??= format
    return this.#format
  }

  async append({ writer, number, rows }: SketchBatch): Promise<boolean> {
    if (number <= (this.#numbers.get(writer) ?? 0)) return false
    this.#numbers.set(writer, number)
    for (const row of rows) this.#add(row)
    return true
  }

  async read(id: string, { from, until }: HourRange): Promise<readonly SketchRow[]> {
    const rows = this.#rows.get(id) ?? []
    return rows.filter(({ firstHour, hours }) => firstHour < until && firstHour + hours > from)
  }

  async replace(rows: readonly SketchRow[], by: NewSketchRow): Promise<boolean> {
    const parts = new Set(rows.map(({ part }) => part))
    const all = this.#rows.get(by.id) ?? []
    const others = all.filter(({ part }) => !parts.has(part))
    if (all.length - others.length !== parts.size) return false
    this.#rows.set(by.id, others)
    this.#add(by)
    return true
  }

  async mergeableGroups({ before, after, limit }: MergeableGroupsPage): Promise<readonly SketchGroup[]> {
    const groups = new Map<string, SketchGroup>()
    const crowded = new Map<string, SketchGroup>()
    for (const row of [...this.#rows.values()].flat()) {
      const group = groupOf(row, before)
      const key = `${group.first}/${group.span}/${group.id}`
      if (groups.has(key)) crowded.set(key, group)
      groups.set(key, group)
    }
    return [...crowded.values()]
      .filter((group) => after === undefined || compared(group, after) > 0)
      .sort(compared)
      .slice(0, limit)
  }

  async deleteBefore(before: number): Promise<void> {
    for (const [id, rows] of this.#rows) {
      const kept = rows.filter(({ firstHour }) => firstHour >= before)
      if (kept.length > 0) this.#rows.set(id, kept)
      else this.#rows.delete(id)
    }
  }

  #add(row: NewSketchRow): void {
    const rows = this.#rows.get(row.id) ?? []
    rows.push({ ...row, part: String(++this.#parts) })
    this.#rows.set(row.id, rows)
  }
}

function compared(one: SketchGroup, other: SketchGroup): number {
  if (one.id !== other.id) return one.id < other.id ? -1 : 1
  return one.first - other.first || one.span - other.span
}
