import {
  checkPolicies,
  type FindingSeverity,
  type PolicyDocument,
  PolicyFileError,
  type PolicyFinding,
  parsePolicies,
} from '@sluice/policies'
import { CommandFailure, EXIT } from '../terminal/exit-code.ts'
import { contentsOf } from '../terminal/file-text.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { hasColor, type Terminal } from '../terminal/terminal.ts'
import { type CheckedFile, type FileFinding, reportText, total } from './check-report.ts'

export interface CheckCommandOptions {
  readonly processes?: number
  readonly syncTick?: number
  readonly previous?: string
  readonly failOn: FindingSeverity
  readonly json?: boolean
}

const SEVERITIES: readonly FindingSeverity[] = ['error', 'warning', 'hint']

/** Checks policy files. Returns 1 if there is a finding of the severity `failOn` or above. */
export async function checkCommand(
  files: readonly string[],
  options: CheckCommandOptions,
  { stdout, env }: Terminal,
): Promise<number> {
  const previous = options.previous === undefined ? undefined : await previousDocument(options.previous)
  const checked: CheckedFile[] = []
  for (const file of files) checked.push(checkFile(file, await contentsOf(file), options, previous))
  const counts = total(checked)
  stdout.write(
    options.json ? `${safeJson({ files: checked, ...counts })}\n` : reportText(checked, hasColor(stdout, env)),
  )
  const fatal = SEVERITIES.slice(0, SEVERITIES.indexOf(options.failOn) + 1)
  return checked.some(({ findings }) => findings.some(({ severity }) => fatal.includes(severity)))
    ? EXIT.problems
    : EXIT.ok
}

function checkFile(
  file: string,
  text: string,
  { processes, syncTick: syncTickMs }: CheckCommandOptions,
  previous: PolicyDocument | undefined,
): CheckedFile {
  try {
    const document = parsePolicies(text, file)
    const findings = checkPolicies(document, { text, processes, syncTickMs, previous })
    return { file, policies: document.policies.length, findings: findings as (PolicyFinding & FileFinding)[] }
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    const findings = error.problems.map((problem) => ({ rule: 'invalid', severity: 'error', ...problem }) as const)
    return { file, policies: 0, findings }
  }
}

async function previousDocument(file: string): Promise<PolicyDocument> {
  try {
    return parsePolicies(await contentsOf(file), file)
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    throw new CommandFailure(
      EXIT.usage,
      `--previous: expected a valid policy file, received one with mistakes: ${file}`,
    )
  }
}
