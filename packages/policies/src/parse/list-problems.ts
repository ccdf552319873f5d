import type { FileProblem } from '../document/file-problem.ts'
import { parseEntry } from '../document/list-entry.ts'
import type { PolicyDocument } from '../document/policy-document.ts'
import type { PositionedDocument } from './positions.ts'

/** Returns the entries of the lists in a document that are neither addresses, ranges nor keys. */
export function listProblems(document: PositionedDocument, { lists = {} }: PolicyDocument): FileProblem[] {
  return Object.entries(lists).flatMap(([name, list]) => {
    if (!Array.isArray(list)) return []
    return list.flatMap((text: string, index) => {
      const message = parseEntry(text.trim())
      return typeof message === 'string' ? [document.problemAt(['lists', name, index], message)] : []
    })
  })
}
