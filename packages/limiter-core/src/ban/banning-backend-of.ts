import type { RequestBackend } from '../backend/grouped-backend.ts'
import type { Clock } from '../contracts.ts'
import type { Observers } from '../observers/observers.ts'
import { clockOf } from '../time/clock.ts'
import { BanningBackend } from './banning-backend.ts'
import type { OpenBan } from './open-ban.ts'
import { PolicyBan } from './policy-ban.ts'

/** A policy of a limiter that may ban keys. */
interface BanningPolicy {
  readonly policy: { readonly name: string }
  readonly backend: { readonly synchronous?: boolean | undefined }
  readonly ban?: OpenBan | undefined
}

/** Returns a backend that denies banned keys, in front of `backend`; undefined if no policy bans keys. */
export function banningBackend(
  policies: readonly BanningPolicy[],
  backend: RequestBackend | undefined,
  givenClock: Clock | undefined,
  observers: Observers,
): BanningBackend | undefined {
  if (!backend || policies.every(({ ban }) => ban === undefined)) return undefined
  const clock = clockOf(givenClock)
  const now = (): number => clock.now()
  const bans = new Map<string, PolicyBan>()
  for (const { policy, ban: open, backend: own } of policies) {
    if (!open) continue
    const isSynchronous = own.synchronous === true
    bans.set(policy.name, new PolicyBan({ policy: policy.name, open, backend, isSynchronous, now, observers }))
  }
  return new BanningBackend(backend, bans, now)
}
