import type { FileProblem } from '../document/file-problem.ts'
import { parseEntry } from '../document/list-entry.ts'
import type { PolicyDocument } from '../document/policy-document.ts'
import type { PositionedDocument } from './positions.ts'
import { ProblemList } from './problem-list.ts'

/** Returns the entries of the lists in a document that are neither addresses, ranges nor keys. */
export function listProblems(document: PositionedDocument, { lists = {} }: PolicyDocument): FileProblem[] {
  const found = new ProblemList(document)
  for (const [name, list] of Object.entries(lists)) {
    if (!Array.isArray(list)) continue
    for (const [index, text] of (list as readonly string[]).entries()) {
      const message = parseEntry(text.trim())
      if (typeof message === 'string') found.report(['lists', name, index], message)
      if (found.isFull) return found.problems
    }
  }
  return found.problems
}
