import type { Path } from '../parse/positions.ts'

/**
 * Severity of a finding. `error`: a limiter refuses the policy at start-up. `warning`: the file probably does not do what
 * its author expects. `hint`: the file is valid, with an effect that is easy to overlook.
 */
export type FindingSeverity = 'error' | 'warning' | 'hint'

/** Rule that a finding belongs to. */
export type FindingRule =
  | 'refused'
  | 'never-binds'
  | 'always-replaced'
  | 'duplicate'
  | 'full-address-key'
  | 'unused-override'
  | 'unused-limit'
  | 'short-window'
  | 'limit-below-processes'
  | 'changed-count'

/** A possible mistake in a valid policy file. */
export interface PolicyFinding {
  readonly rule: FindingRule
  readonly severity: FindingSeverity
  /** Name of the policy; undefined if the finding is about a list of addresses. */
  readonly policy?: string
  /** Path of the value in the file, such as `policies[2].limit`. */
  readonly path: string
  readonly message: string
  /** Line from 1. Present if `checkPolicies` received the text of the file. */
  readonly line?: number
  /** Column from 1. Present if `checkPolicies` received the text of the file. */
  readonly column?: number
}

/** A finding whose place has not been looked up yet. */
export interface PlacedFinding extends Omit<PolicyFinding, 'path' | 'line' | 'column'> {
  readonly at: Path
}
