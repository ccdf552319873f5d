import type { FileProblem } from '../document/file-problem.ts'
import type { PolicyDocument, WrittenPolicy } from '../document/policy-document.ts'
import { suggestion } from '../document/suggestion.ts'
import { textsOf } from '../matching/attribute-match.ts'
import { BUILT_IN_ATTRIBUTES, countedMethod, headerOf } from '../matching/attribute-source.ts'
import { Condition, firstLineOf } from '../matching/condition.ts'
import type { Path, PositionedDocument } from './positions.ts'
import { ProblemList } from './problem-list.ts'

/**
 * Returns the conditions of a document that are not valid, and the attributes that no request has. `registered`: names
 * of the attributes that the application provides; undefined if they are not known.
 */
export function attributeProblems(
  document: PositionedDocument,
  { policies }: PolicyDocument,
  registered: readonly string[] | undefined,
): FileProblem[] {
  const known = registered && [...BUILT_IN_ATTRIBUTES, ...registered]
  const found = new ProblemList(document)
  if (!registered?.includes('method')) reportHead(policies, found)
  const mustExist = (path: Path, name: string): void => {
    if (headerOf(name) === '') found.report(path, "expected the name of a header after 'header:'")
    if (!known || found.isFull || known.includes(name) || headerOf(name) !== undefined) return
    found.report(path, `no attribute is named '${name}'${suggestion(name, known)}`)
  }
  for (const [index, policy] of policies.entries()) {
    const at: Path = ['policies', index]
    for (const [path, name] of namesIn(policy)) mustExist([...at, ...path], name)
    if (policy.when === undefined) continue
    try {
      for (const name of new Condition(policy.when).attributes) mustExist([...at, 'when'], name)
    } catch (error) {
      found.report([...at, 'when'], firstLineOf(error))
    }
  }
  return found.problems
}

/** Reports policies that match HEAD without GET: no request has HEAD as its method. */
function reportHead(policies: readonly WrittenPolicy[], found: ProblemList): void {
  for (const [index, { match }] of policies.entries()) {
    const methods = match?.method === undefined ? [] : textsOf(match.method)
    if (methods.some((method) => !methods.includes(countedMethod(method))))
      found.report(
        ['policies', index, 'match', 'method'],
        "expected 'GET', which HEAD requests count as, received 'HEAD'",
      )
  }
}

/** Returns the attributes that a policy names outside of its condition, with their paths in the policy. */
function namesIn(policy: WrittenPolicy): readonly (readonly [Path, string])[] {
  const { match = {}, limit, cost } = policy
  return [
    ...Object.keys(match).map((name): [Path, string] => [['match', name], name]),
    ...keyNames(policy),
    ...(typeof limit === 'object' ? [[['limit'], 'plan'] as const] : []),
    ...(typeof cost === 'object' ? [[['cost', 'settle'], cost.settle] as const] : []),
  ]
}

function keyNames({ key }: WrittenPolicy): readonly (readonly [Path, string])[] {
  if (key === undefined) return []
  return typeof key === 'string' ? [[['key'], key]] : key.map((name, index) => [['key', index], name])
}
