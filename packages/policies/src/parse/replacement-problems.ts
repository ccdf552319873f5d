import type { FileProblem } from '../document/file-problem.ts'
import type { PolicyDocument } from '../document/policy-document.ts'
import { FilePolicy } from '../matching/file-policy.ts'
import { replacementsBy } from '../matching/replacements.ts'
import type { PositionedDocument } from './positions.ts'

/** Returns a problem for each policy that replaces itself through others: a request that fits all would have none. */
export function replacementProblems(document: PositionedDocument, contents: PolicyDocument): FileProblem[] {
  const policies = contents.policies.map((written) => new FilePolicy(written, []))
  const below = replacementsBy(policies)
  return policies.flatMap((_, index) => {
    const seen = new Set<number>()
    const open = [...below[index]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === index) {
        const message = 'this policy replaces itself, directly or through others, so that none of them would apply'
        return [document.problemAt(['policies', index], message)]
      }
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...below[next])
    }
    return []
  })
}
