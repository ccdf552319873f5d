import { SluiceError } from '@sluice/limiter-core/backend'

/** A mistake in a policy file. Lines and columns start at 1. */
export interface FileProblem {
  readonly line: number
  readonly column: number
  /** Path of the value in the file, such as `policies[2].limit`; empty for the file as a whole. */
  readonly path: string
  /** What was expected and what was found. */
  readonly message: string
}

/** Most problems of one kind that are looked for: a large file of another format would have one in each value. */
export const MAX_PROBLEMS = 100

/** Number of problems in the message of an error. */
const SHOWN = 20

/** An invalid policy file, with up to 100 problems of each kind in the order of the file. The code is `SLUICE_BAD_POLICY_FILE`. */
export class PolicyFileError extends SluiceError {
  readonly problems: readonly FileProblem[]
  /** The problems as lines of text: `file:line:column: path: message`. */
  readonly details: string

  constructor(file: string, problems: readonly FileProblem[]) {
    const sorted = problems.toSorted((a, b) => a.line - b.line || a.column - b.column)
    const details = textOf(file, sorted)
    super('SLUICE_BAD_POLICY_FILE', details)
    this.problems = sorted
    this.details = details
  }
}

function textOf(file: string, problems: readonly FileProblem[]): string {
  const lines = problems.slice(0, SHOWN).map(({ line, column, path, message }) => {
    return `${file}:${line}:${column}: ${withoutControls(path === '' ? message : `${path}: ${message}`)}`
  })
  if (problems.length > SHOWN) lines.push(`${problems.length - SHOWN} more problems`)
  return lines.join('\n')
}

/** Names and values of a document may contain characters that a terminal obeys, or that begin another line of a log. */
function withoutControls(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
}
