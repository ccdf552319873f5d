import { integerFrom, optionsOf } from '@sluice/limiter-core/backend'
import type { PolicyDocument } from '../document/policy-document.ts'
import { PositionedDocument, textOfPath } from '../parse/positions.ts'
import { addressFindings } from './address-findings.ts'
import { bindingFindings } from './binding-findings.ts'
import { changedFindings } from './changed-findings.ts'
import { checkedPolicies } from './checked-policy.ts'
import { type Deployment, fleetFindings } from './fleet-findings.ts'
import { overrideFindings } from './override-findings.ts'
import { planFindings } from './plan-findings.ts'
import type { PlacedFinding, PolicyFinding } from './policy-finding.ts'
import { PolicyRelations } from './policy-relations.ts'
import { replacementFindings } from './replacement-findings.ts'
import { startUpFindings } from './start-up-findings.ts'

export interface CheckOptions extends Deployment {
  /** Number of processes that share the limits, an integer from 1. Default: limits are not compared with a number of processes. */
  readonly processes?: number | undefined
  /**
   * `tickMs` of the synced backends that count the policies, an integer from 100 to 60,000 ms. Default: windows below one second, the default of
   * `tickMs`, are a hint.
   */
  readonly syncTickMs?: number | undefined
  /** The text that the document was parsed from. If set, findings contain their line and column. */
  readonly text?: string | undefined
  /** The document that was in use before. If set, changes that affect stored counts are hints. */
  readonly previous?: PolicyDocument | undefined
}

const OPTIONS = ['processes', 'syncTickMs', 'text', 'previous'] as const

/**
 * Returns the possible mistakes in a valid document: policies that can never deny a request, keys that clients can choose
 * freely, overrides without an effect, and limits that a backend refuses. The findings are in the order of the file if
 * `text` is set, otherwise grouped by rule. Does not read other files and does not evaluate conditions in CEL.
 * Throws `SLUICE_BAD_OPTION` if an option is invalid.
 */
export function checkPolicies(document: PolicyDocument, options: CheckOptions = {}): PolicyFinding[] {
  const { processes, syncTickMs, text, previous } = checkedOptions(options)
  const written = checkedPolicies(document)
  const refused = startUpFindings(written)
  // the other rules compare policies as limiters count them, which a refused policy is not
  const refusedNames = new Set(refused.map(({ policy }) => policy))
  const policies = written.filter(({ name }) => !refusedNames.has(name))
  const relations = new PolicyRelations(policies)
  const found = [
    ...refused,
    ...replacementFindings(relations),
    ...bindingFindings(relations),
    ...planFindings(policies),
    ...addressFindings(policies, document),
    ...overrideFindings(policies, document),
    ...fleetFindings(policies, { processes, syncTickMs }),
    ...(previous === undefined ? [] : changedFindings(policies, previous)),
  ]
  return text === undefined || found.length === 0 ? found.map((finding) => withPath(finding)) : placed(found, text)
}

function checkedOptions(options: CheckOptions): CheckOptions {
  const { processes, syncTickMs } = optionsOf('checkPolicies', options, OPTIONS)
  if (processes !== undefined) integerFrom('checkPolicies: processes', processes, 1)
  if (syncTickMs !== undefined) integerFrom('checkPolicies: syncTickMs', syncTickMs, 100, 60_000)
  return options
}

function placed(found: readonly PlacedFinding[], text: string): PolicyFinding[] {
  const positions = new PositionedDocument(text)
  const all = found.map((finding) => ({ ...withPath(finding), ...positions.positionOf(finding.at) }))
  return all.sort((a, b) => a.line - b.line || a.column - b.column)
}

function withPath({ at, ...finding }: PlacedFinding): PolicyFinding {
  return { ...finding, path: textOfPath(at) }
}
