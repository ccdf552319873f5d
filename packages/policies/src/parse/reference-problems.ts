import type { FileProblem } from '../document/file-problem.ts'
import type { PolicyDocument } from '../document/policy-document.ts'
import { suggestion } from '../document/suggestion.ts'
import type { Path, PositionedDocument } from './positions.ts'
import { ProblemList } from './problem-list.ts'

/** Returns the names of policies in a document that are used twice, or that no policy has. */
export function referenceProblems(document: PositionedDocument, contents: PolicyDocument): FileProblem[] {
  const { policies, overrides = [] } = contents
  const names = policies.map(({ name }) => name)
  const places = new Map(names.map((name, index) => [name, index] as const).reverse())
  const found = new ProblemList(document)
  const mustExist = (path: Path, name: string): void => {
    if (!places.has(name) && !found.isFull) found.report(path, `no policy is named '${name}'${suggestion(name, names)}`)
  }
  for (const [index, { name, replaces = [] }] of policies.entries()) {
    const first = places.get(name) ?? index
    if (first < index) {
      const { line } = document.positionOf(['policies', first, 'name'])
      found.report(['policies', index, 'name'], `the name '${name}' is already used in line ${line}`)
    }
    for (const [at, other] of replaces.entries()) mustExist(['policies', index, 'replaces', at], other)
  }
  for (const [index, { policy }] of overrides.entries()) mustExist(['overrides', index, 'policy'], policy)
  return found.problems
}
