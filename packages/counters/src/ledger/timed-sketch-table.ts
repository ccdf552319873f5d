import type { Clock } from '@sluice/limiter-core/backend'
import { CallTimeout } from './call-timeout.ts'
import type {
  HourRange,
  MergeableGroupsPage,
  NewSketchRow,
  SketchBatch,
  SketchGroup,
  SketchRow,
  SketchTable,
} from './sketch-table.ts'

/** Sketch table whose calls time out after `waitMs`. */
export class TimedSketchTable implements SketchTable {
  readonly #table: SketchTable
  readonly #deadline: CallTimeout

  constructor(table: SketchTable, clock: Clock, waitMs: number) {
    this.#table = table
    this.#deadline = new CallTimeout(clock, waitMs)
  }

  claimFormat(format: string): Promise<string> {
    return this.#deadline.within(this.#table.claimFormat(format))
  }

  append(batch: SketchBatch): Promise<boolean> {
    return this.#deadline.within(this.#table.append(batch))
  }

  read(id: string, range: HourRange): Promise<readonly SketchRow[]> {
    return this.#deadline.within(this.#table.read(id, range))
  }

  replace(rows: readonly SketchRow[], by: NewSketchRow): Promise<boolean> {
    return this.#deadline.within(this.#table.replace(rows, by))
  }

  mergeableGroups(page: MergeableGroupsPage): Promise<readonly SketchGroup[]> {
    return this.#deadline.within(this.#table.mergeableGroups(page))
  }

  deleteBefore(before: number, keptDays: number): Promise<void> {
    return this.#deadline.within(this.#table.deleteBefore(before, keptDays))
  }
}
