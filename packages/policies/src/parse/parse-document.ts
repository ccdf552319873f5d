import { messageOf } from '@sluice/limiter-core/backend'
import { type FileProblem, PolicyFileError } from '../document/file-problem.ts'
import type { PolicyDocument } from '../document/policy-document.ts'
import { attributeProblems } from './attribute-problems.ts'
import { listProblems } from './list-problems.ts'
import { PositionedDocument } from './positions.ts'
import { referenceProblems } from './reference-problems.ts'
import { replacementProblems } from './replacement-problems.ts'
import { schemaProblems } from './schema-problems.ts'

/** Settings of `parsePolicies`. */
export interface ParseOptions {
  /**
   * Names of the attributes that the application provides, in addition to `address`, `method`, `route` and headers.
   * Default: attributes of any name are valid.
   */
  readonly attributes?: readonly string[] | undefined
}

/**
 * Returns the contents of a policy file. `file` is its name in messages. Throws `PolicyFileError` with the problems of
 * the text, at most 100 of each kind: its syntax, its fields, its conditions, the names in it, and the entries of its lists.
 */
export function parseDocument(text: string, file: string, { attributes }: ParseOptions = {}): PolicyDocument {
  const document = new PositionedDocument(text)
  const refuse = (problems: readonly FileProblem[]): void => {
    if (problems.length > 0) throw new PolicyFileError(file, problems)
  }
  refuse(document.problems.map((problem) => ({ ...problem, path: '' })))
  let value: unknown
  try {
    value = document.value()
  } catch (error) {
    throw new PolicyFileError(file, [{ line: 1, column: 1, path: '', message: messageOf(error) }])
  }
  refuse(schemaProblems(document, value))
  const contents = value as PolicyDocument
  refuse([
    ...referenceProblems(document, contents),
    ...attributeProblems(document, contents, attributes),
    ...listProblems(document, contents),
  ])
  refuse(replacementProblems(document, contents))
  return contents
}
