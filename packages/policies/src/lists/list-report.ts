import type { FileProblem } from '../document/file-problem.ts'
import type { EntryList } from './entry-list.ts'
import { ListBuilder } from './list-builder.ts'
import type { Steps } from './steps.ts'

/** Most problems, and most warnings, that are collected. */
const MAX_COLLECTED = 100

/** A list with what is wrong with its entries. */
export interface LoadedList {
  /** The valid entries. */
  readonly list: EntryList
  /** The first 100 invalid entries. Columns are 1. */
  readonly problems: readonly FileProblem[]
  /** Number of all invalid entries. */
  readonly invalid: number
  /** The first 100 valid entries that are probably mistakes, such as `0.0.0.0/0`. */
  readonly warnings: readonly FileProblem[]
}

/** Collects the entries of a list and what is wrong with them. */
export class ListReport {
  readonly #builder = new ListBuilder()
  readonly #problems: FileProblem[] = []
  readonly #warnings: FileProblem[] = []
  #invalid = 0

  /** Adds the entry in a line. */
  add(text: string, line: number, path = ''): void {
    const remark = this.#builder.add(text)
    if (!remark) return
    const { isInvalid, message } = remark
    if (isInvalid) this.#invalid++
    const collected = isInvalid ? this.#problems : this.#warnings
    if (collected.length < MAX_COLLECTED) collected.push({ line, column: 1, path, message })
  }

  *build(): Steps<LoadedList> {
    const list = yield* this.#builder.build()
    return { list, problems: this.#problems, invalid: this.#invalid, warnings: this.#warnings }
  }
}
