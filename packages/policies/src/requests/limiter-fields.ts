import type { PolicyInput } from '@sluice/limiter-core/http'
import type { WrittenPolicy } from '../document/policy-document.ts'

/** Fields of a written policy that a limiter reads as they are. */
type LimiterFields = Omit<PolicyInput, 'limit' | 'overrides' | 'backend' | 'calendar' | 'maxHoldMs'>

/** Returns the options of the limiter of a policy, except its limit, which may depend on the request. */
export function limiterFields(written: WrittenPolicy): LimiterFields {
  const { name, per, unit, algorithm, burst, slices, retry, mode, ban } = written
  return {
    name,
    // a document has durations as texts, which the limiter checks
    window: per as PolicyInput['window'],
    ...(unit !== undefined && { unit }),
    ...(algorithm !== undefined && { algorithm }),
    ...(burst !== undefined && { burst }),
    ...(slices !== undefined && { slices }),
    ...(retry !== undefined && { retry }),
    ...(mode !== undefined && { mode }),
    ...(ban && { ban: ban as NonNullable<PolicyInput['ban']> }),
  }
}
