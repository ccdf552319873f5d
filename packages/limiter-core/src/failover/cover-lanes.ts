import type { Backend, Clock, Step } from '../contracts.ts'
import type { Lane } from '../lanes.ts'
import { FailoverBackend } from './failover-backend.ts'
import type { FailoverRule } from './failover-options.ts'
import { isInfallible } from './infallible.ts'

/** Lanes that always have an answer, and what ends what was made for that. */
interface CoveredLanes {
  readonly lanes: readonly Lane[]
  readonly close: () => void
}

/**
 * Puts failover before every backend that may fail or be slow, and so before every one of somebody else: one for all
 * lanes that count on the same, each of which has its own rule.
 */
export function coverLanes(lanes: readonly Lane[], clock: Clock | undefined, rule: FailoverRule): CoveredLanes {
  const covers = new Map<Backend, FailoverBackend>()
  const rules = new Map<Step, FailoverRule>()
  const covered = lanes.map((lane) => {
    if (isInfallible(lane.backend)) return lane
    if (lane.failover) rules.set(lane.step, lane.failover)
    const backend = covers.get(lane.backend) ?? new FailoverBackend(lane.backend, rule, clock, rules)
    covers.set(lane.backend, backend)
    return { ...lane, backend }
  })
  const close = (): void => {
    for (const cover of covers.values()) cover.close()
  }
  return { lanes: covered, close }
}
