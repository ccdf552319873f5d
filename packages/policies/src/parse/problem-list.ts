import { type FileProblem, MAX_PROBLEMS } from '../document/file-problem.ts'
import type { Path, PositionedDocument } from './positions.ts'

/** Problems of one kind in a document; further ones are ignored when there are 100. */
export class ProblemList {
  readonly problems: FileProblem[] = []
  readonly #document: PositionedDocument

  constructor(document: PositionedDocument) {
    this.#document = document
  }

  get isFull(): boolean {
    return this.problems.length >= MAX_PROBLEMS
  }

  report(path: Path, message: string): void {
    if (!this.isFull) this.problems.push(this.#document.problemAt(path, message))
  }
}
