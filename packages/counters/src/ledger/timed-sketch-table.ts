import type { Clock } from '@sluice/limiter-core/backend'
import { AnswerDeadline } from './answer-deadline.ts'
import type {
  CrowdedPage,
  HourRange,
  NewSketchRow,
  SketchBatch,
  SketchGroup,
  SketchRow,
  SketchTable,
} from './sketch-table.ts'

/** Sketch table whose calls time out after `waitMs`. */
export class TimedSketchTable implements SketchTable {
  readonly #table: SketchTable
  readonly #deadline: AnswerDeadline

  constructor(table: SketchTable, clock: Clock, waitMs: number) {
    this.#table = table
    this.#deadline = new AnswerDeadline(clock, waitMs)
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

  crowded(page: CrowdedPage): Promise<readonly SketchGroup[]> {
    return this.#deadline.within(this.#table.crowded(page))
  }

  forget(before: number, keptDays: number): Promise<void> {
    return this.#deadline.within(this.#table.forget(before, keptDays))
  }
}
