import type { FindingRule, FindingSeverity } from '@sluice/policies'
import { createColors } from 'picocolors'
import { safeText } from '../terminal/safe-text.ts'

/** A finding in a file. Lines and columns start at 1. */
export interface FileFinding {
  /** `invalid`: the file does not have the format of policy files. */
  readonly rule: FindingRule | 'invalid'
  readonly severity: FindingSeverity
  readonly policy?: string
  readonly path: string
  readonly message: string
  readonly line: number
  readonly column: number
}

export interface CheckedFile {
  readonly file: string
  /** Number of policies; 0 if the file is invalid. */
  readonly policies: number
  readonly findings: readonly FileFinding[]
}

export interface Total {
  readonly errors: number
  readonly warnings: number
  readonly hints: number
}

/** Returns the number of findings of each severity in all files. */
export function total(files: readonly CheckedFile[]): Total {
  const all = files.flatMap(({ findings }) => findings)
  const number = (severity: FindingSeverity): number => all.filter((finding) => finding.severity === severity).length
  return { errors: number('error'), warnings: number('warning'), hints: number('hint') }
}

/** Returns one line for each finding, and a line with their number. */
export function reportText(files: readonly CheckedFile[], isColored: boolean): string {
  const lines = files.flatMap(({ file, findings }) =>
    findings.map((finding) => {
      const { rule, path, message } = finding
      // messages about mistakes of the format do not name their policy
      const where = rule === 'invalid' && path !== '' ? `${path}: ` : ''
      return findingLine(file, { ...finding, message: where + message }, isColored)
    }),
  )
  return `${[...lines, totalText(files)].join('\n')}\n`
}

/** Returns a finding as one line: `file:line:column: severity: message`. */
export function findingLine(
  file: string,
  { line, column, severity, message }: Pick<FileFinding, 'line' | 'column' | 'severity' | 'message'>,
  isColored: boolean,
): string {
  const { bold, red, yellow, cyan } = createColors(isColored)
  const paint = { error: red, warning: yellow, hint: cyan }[severity]
  return `${bold(`${safeText(file)}:${line}:${column}:`)} ${paint(`${severity}:`)} ${safeText(message)}`
}

function totalText(files: readonly CheckedFile[]): string {
  const { errors, warnings, hints } = total(files)
  const parts = [counted(errors, 'error'), counted(warnings, 'warning'), counted(hints, 'hint')].filter(Boolean)
  const policies = files.reduce((sum, file) => sum + file.policies, 0)
  const scope = `${counted(policies, 'policy', 'policies') || '0 policies'} in ${counted(files.length, 'file')}`
  return parts.length === 0 ? `${scope}: no problems found` : `${scope}: ${parts.join(', ')}`
}

/** Returns a number with its noun; '' for 0. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return number === 0 ? '' : `${number} ${number === 1 ? one : many}`
}
