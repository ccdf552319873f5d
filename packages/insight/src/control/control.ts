import type { Duration, RecordStore } from '@sluice/limiter-core'

/** Mode that an operator can set. `enforce` needs the permission of `ControlOptions.enforce`. */
export type ControlledMode = 'enforce' | 'shadow' | 'off'

/** The policy or the cap that a change applies to. */
type ControlTarget = PolicyTarget | { readonly cap: string; readonly policy?: undefined }

interface PolicyTarget {
  readonly policy: string
  readonly cap?: undefined
}

interface AllPolicies {
  readonly policy?: undefined
  readonly cap?: undefined
}

/**
 * A change by an operator. `reset` and `unban` happen once; all other changes are temporary. `unban` lifts the bans of a key,
 * and forgets its strikes and earlier bans; `reset` also resets its usage.
 */
export type ControlAction =
  | ({ readonly action: 'mode'; readonly mode: ControlledMode } & ControlTarget)
  | ({ readonly action: 'limit'; readonly limit: number } & ControlTarget)
  | ({ readonly action: 'block'; readonly key: string } & (ControlTarget | AllPolicies))
  | ({ readonly action: 'reset' | 'unban'; readonly key: string } & (PolicyTarget | AllPolicies))

/** Parameters of `Insight.control`. */
export type ControlRequest = ControlAction & {
  /** Time until the change expires: 1 s to 24 h. Default: 15 minutes. Not allowed for `reset` and `unban`. */
  readonly duration?: Duration | undefined
  /** Name of the operator for the audit log, shortened to 128 characters. Default: `code`. */
  readonly by?: string | undefined
  /** Reason for the audit log, shortened to 128 characters. */
  readonly reason?: string | undefined
}

/** Origin and lifetime of a change. Times are ms since 1970. */
export interface ControlTerms {
  readonly id: string
  readonly at: number
  readonly endsAt: number
  readonly by: string
  readonly reason?: string | undefined
  readonly undoneAt?: number | undefined
  readonly undoneBy?: string | undefined
}

/** An active or past change. */
export interface ControlEntry extends ControlTerms {
  readonly action: ControlAction['action']
  /** Undefined if the change applies to all policies, or to a cap. */
  readonly policy?: string | undefined
  readonly cap?: string | undefined
  readonly mode?: ControlledMode | undefined
  readonly limit?: number | undefined
  /** The key, displayed according to `privacy`. */
  readonly key?: string | undefined
}

/** Line of the audit log. */
export interface AuditLine {
  readonly at: number
  /** `begun`: applied; `undone`: reverted by an operator; `ended`: expired; `failed`: not applied in this process. */
  readonly event: 'begun' | 'undone' | 'ended' | 'failed'
  readonly entry: ControlEntry
  /** Description of the event. */
  readonly text: string
}

/** Range from which an operator may choose a limit, inclusive, in whole units. */
export interface LimitBounds {
  readonly min: number
  readonly max: number
}

export interface ControlOptions {
  /** Allowed range by policy name. Limits of other policies cannot be changed. Default: none. */
  readonly limits?: Readonly<Record<string, LimitBounds>> | undefined
  /** Allowed range by cap name. Limits of other caps cannot be changed. Default: none. */
  readonly caps?: Readonly<Record<string, LimitBounds>> | undefined
  /**
   * Names of policies and caps that operators may enforce although code configures them as shadow. Default: none. Do not list
   * policies of `slowDown`.
   */
  readonly enforce?: readonly string[] | undefined
  /**
   * Called for each line of the audit log of this process; every process on a channel writes its own log. If it throws,
   * it is not called again.
   */
  readonly audit?: ((line: AuditLine) => void) | undefined
  /**
   * Stores changes, so that they continue after all processes have stopped, with their remaining time: for example
   * `redisRecords(client)` or `ledger.openRecords('limits')`. The audit log of the last seven days is stored with them.
   * Requires the `secret` of `createInsight`. If the store fails, changes apply nevertheless and are stored later.
   * Default: none; changes end when all processes have stopped.
   */
  readonly store?: RecordStore | undefined
}
