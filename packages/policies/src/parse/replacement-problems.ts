import type { FileProblem } from '../document/file-problem.ts'
import type { PolicyDocument } from '../document/policy-document.ts'
import { FilePolicy } from '../matching/file-policy.ts'
import type { PositionedDocument } from './positions.ts'

/** Returns a problem for each policy that replaces itself through others: a request that fits all would have none. */
export function replacementProblems(document: PositionedDocument, contents: PolicyDocument): FileProblem[] {
  const policies = contents.policies.map((written) => new FilePolicy(written, []))
  const below = new Map(policies.map((one) => [one, policies.filter((other) => one.replaces(other))]))
  return policies.flatMap((one, index) => {
    const seen = new Set<FilePolicy>()
    const open = [...(below.get(one) ?? [])]
    for (let next = open.pop(); next; next = open.pop()) {
      if (next === one) {
        const message = 'this policy replaces itself, directly or through others, so that none of them would apply'
        return [document.problemAt(['policies', index], message)]
      }
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(below.get(next) ?? []))
    }
    return []
  })
}
