import type { Backend, Limiter, MaybePromise, PolicyInput } from '@sluice/limiter-core'
import type { FakeClock } from '../fake-clock.ts'

/** The backends of processes that share counts. */
export interface BanFleet {
  readonly clock: FakeClock
  /** One backend for each process, or several times the same one. */
  readonly backends: readonly Backend[]
  /** Whether the processes learn of each other's counts only by an exchange. Default: false. */
  readonly isEventual?: boolean
  /** Whether a process asks for the counts of a key only after it has decided a request of the key. Default: false. */
  readonly asksLater?: boolean
  /** Lets the processes exchange their counts. May move the clock by up to 500 ms. Default: nothing. */
  exchange?(): MaybePromise<void>
  close?(): MaybePromise<void>
}

/** Creates a fleet without counts. */
export type MakeBanFleet = (processes: number) => MaybePromise<BanFleet>

/** A ban that was observed. */
export interface SeenBan {
  readonly key: string
  readonly ms: number
  readonly level: number
}

/** A fleet with a limiter of one policy in each process. */
export interface BanBench {
  readonly fleet: BanFleet
  readonly limiters: readonly Limiter[]
  /** Bans that all processes have reported. */
  readonly bans: readonly SeenBan[]
}

/** The policy of the claims: 2 requests in 10 s. */
export const BANNING: PolicyInput = {
  name: 'api',
  limit: 2,
  window: '10s',
  ban: { after: 3, within: '1m', for: '5m', growth: 2, max: '15m', forget: '4h' },
}
