import type { Duration } from '@sluice/limiter-core'

/** What an operator changes, for a while. */
export type ControlAction =
  | { readonly action: 'mode'; readonly policy: string; readonly mode: 'shadow' | 'off' }
  | { readonly action: 'limit'; readonly policy: string; readonly limit: number }
  | { readonly action: 'block'; readonly key: string; readonly policy?: string | undefined }
  | { readonly action: 'reset'; readonly key: string; readonly policy?: string | undefined }

/** A change as an operator asks for it. */
export type ControlRequest = ControlAction & {
  /** After which it ends by itself: 1 s to 24 h; default: 15 minutes. A reset has none. */
  readonly duration?: Duration | undefined
  /** Who asks, for the audit: at most 128 characters. Default: `code`. */
  readonly by?: string | undefined
  /** Why, for the audit: at most 128 characters. */
  readonly reason?: string | undefined
}

/** Who made a change, and for how long. Times are in ms since 1970. */
export interface ControlTerms {
  readonly id: string
  readonly at: number
  readonly endsAt: number
  readonly by: string
  readonly reason?: string | undefined
  readonly undoneAt?: number | undefined
  readonly undoneBy?: string | undefined
}

/** A change that holds, or held. */
export interface ControlEntry extends ControlTerms {
  readonly action: ControlAction['action']
  /** Undefined where it is of all policies. */
  readonly policy?: string | undefined
  readonly mode?: 'shadow' | 'off' | undefined
  readonly limit?: number | undefined
  /** As `privacy` shows it. */
  readonly key?: string | undefined
}

/** One line of what operators did. */
export interface AuditLine {
  readonly at: number
  /** `failed`: this process could not do it. */
  readonly event: 'begun' | 'undone' | 'ended' | 'failed'
  readonly entry: ControlEntry
  /** What happened, in words. */
  readonly text: string
}

/** Between which limits an operator may choose. Whole units. */
export interface LimitBounds {
  readonly min: number
  readonly max: number
}

export interface ControlOptions {
  /** By the name of the policy; of others no limit can be changed. */
  readonly limits?: Readonly<Record<string, LimitBounds>> | undefined
  /** Hears each line in the process that writes it; every process of a channel writes its own. Must not throw; where it does, it is called no more. */
  readonly audit?: ((line: AuditLine) => void) | undefined
}
