import type { Decision, Hold, MaybePromise } from '@sluice/limiter-core'
import type { Spent } from './account.ts'
import type { AskedTake } from './entrances.ts'

/** An allowed take, and what each policy took. */
export interface Taken {
  readonly key: string
  readonly plan: number
  readonly cost: number
  readonly take: AskedTake
  readonly spent: ReadonlyMap<string, Spent>
}

/** A hold, and the units of policies that were only taken. */
export interface OpenHold {
  readonly key: string
  readonly hold: Hold<MaybePromise<Decision>>
  readonly forMs: number
  readonly spent: Map<string, Spent>
  /** Names of the policies that hold units, or that took part with none. */
  readonly decided: Set<string>
  readonly taken: Map<string, { readonly units: number; readonly takenAt: number }[]>
  readonly returned: Map<string, number>
  units: number
  /** When the process returns the units that were only taken. */
  dueAt: number
}
