import { messageOf } from '@sluice/limiter-core/backend'
import { type FileProblem, PolicyFileError } from './file-problem.ts'
import type { PolicyDocument } from './policy-document.ts'
import { PositionedDocument } from './positions.ts'
import { referenceProblems } from './reference-problems.ts'
import { schemaProblems } from './schema-problems.ts'

/**
 * Returns the contents of a policy file. `file` is its name in messages. Throws `PolicyFileError` with all problems of
 * the text: its syntax, its fields, and the names in it.
 */
export function parseDocument(text: string, file: string): PolicyDocument {
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
  refuse(referenceProblems(document, contents))
  return contents
}
