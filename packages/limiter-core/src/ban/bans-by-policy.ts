import type { BanTerms } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { type BanInput, compileBan } from '../policy/ban-options.ts'

/** The part of a policy's options that determines its ban. */
interface BanningPolicy {
  readonly ban?: BanInput
}

/**
 * Returns the terms of bans by name of their policy. Throws `SLUICE_BAD_OPTION` or `SLUICE_BAD_DURATION` for invalid
 * options, and `SLUICE_BAD_POLICY` if policies of one name have different bans: they share their bans, as they share
 * their counts.
 */
export function bansByPolicy<P extends BanningPolicy>(
  policies: readonly P[],
  nameOf: (policy: P) => string,
): ReadonlyMap<string, BanTerms> {
  const byName = new Map<string, BanTerms>()
  for (const policy of policies) {
    if (policy.ban === undefined) continue
    const name = nameOf(policy)
    const terms = compileBan(`policy '${name}': ban`, policy.ban)
    const other = byName.get(name)
    if (other && JSON.stringify(other) !== JSON.stringify(terms)) {
      throw new SluiceError(
        'SLUICE_BAD_POLICY',
        `policy '${name}': ban: expected the same ban in all plans, received different ones; ` +
          'policies with the same name share one count and its bans, so use different names to ban separately',
      )
    }
    byName.set(name, terms)
  }
  return byName
}
