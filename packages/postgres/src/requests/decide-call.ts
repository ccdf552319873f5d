import type { Charge, CompiledPolicy, HoldChange, PriorUsage } from '@sluice/limiter-core/backend'
import type { LimitRequest } from './limit-request.ts'
import { policyNumbers } from './policy-numbers.ts'

const OPERATIONS = { take: 0, peek: 1, adjust: 2, reset: 3 } as const
/** Value for the time of usage that is always restored. */
const ALWAYS = Number.POSITIVE_INFINITY

/** Converts a time of the process to the server's clock; the result is never too late. */
export type ToServerTime = (processAt: number) => number

/** Whether the request is a take of one enforced charge without prior usage. */
export function isPlainTake({ operation, charges }: LimitRequest): boolean {
  const [{ advisory, known, hold }] = charges
  return operation === 'take' && charges.length === 1 && !advisory && !known && !hold
}

/** Returns the arguments `of_key`, `p` and `cost` of the function `limit1_take`. */
export function takeArguments({ keys, charges: [{ counter, cost }] }: LimitRequest): unknown[] {
  return [keys[0], `{${policyNumbers(counter.compiled).join(',')}}`, cost]
}

/** Returns the arguments `keys`, `ids` and `g` of the function `limit1_decide`. */
export function decideArguments(
  requests: readonly LimitRequest[],
  toServerTime: ToServerTime,
): [keys: string[], ids: string[], numbers: string] {
  const keys = new Map<string, number>()
  const policies = new Map<CompiledPolicy, number>()
  const numbers: number[] = []
  for (const request of requests) {
    const { operation, charges, takenAt, requestedAt } = request
    numbers.push(OPERATIONS[operation], takenAt, charges.length)
    for (const [index, charge] of charges.entries()) {
      const known = knownOf(operation, charge)
      const [key, policy] = [numberOf(keys, request.keys[index]), numberOf(policies, charge.counter.compiled)]
      const usage = known ? knownNumbers(known, (ageMs) => toServerTime(requestedAt - ageMs)) : []
      numbers.push(key, policy, charge.cost, kindOf(charge, known), ...usage, ...holdNumbers(charge.hold))
    }
  }
  const head = [...policies.keys()].flatMap((compiled) => {
    const each = policyNumbers(compiled)
    return [each.length, ...each]
  })
  return [[...keys.keys()], requests.map(({ id }) => id), `{${[policies.size, ...head, ...numbers].join(',')}}`]
}

/** Returns the prior usage that a request reports with a charge. */
function knownOf(operation: LimitRequest['operation'], { known }: Charge): PriorUsage | undefined {
  return operation === 'take' || operation === 'adjust' ? known : undefined
}

/** Returns 0 (enforced) or 1 (advisory), plus 2 if prior usage follows, plus 4 if a hold follows. */
function kindOf({ advisory, hold }: Charge, known: PriorUsage | undefined): number {
  return (advisory ? 1 : 0) + (known ? 2 : 0) + (hold ? 4 : 0)
}

/** Returns the three numbers of a hold: its duration, and the units and the end of the earlier hold that it replaces. */
function holdNumbers(hold: HoldChange | undefined): readonly number[] {
  return hold ? [hold.forMs, hold.from?.units ?? 0, hold.from?.endsAt ?? 0] : []
}

function numberOf<T>(numbers: Map<T, number>, value: T): number {
  const known = numbers.get(value)
  if (known !== undefined) return known
  numbers.set(value, numbers.size + 1)
  return numbers.size
}

/**
 * Returns the seven numbers of prior usage: `used`, `resetAfterMs`, time of the call that reported it, `uncounted`,
 * `unsure` and `upTo` of admitted units, and the time of the last of them.
 */
function knownNumbers(
  { used, resetAfterMs, ageMs, admitted }: PriorUsage,
  serverTimeAgo: (ageMs: number) => number,
): readonly number[] {
  const usedAt = ageMs === undefined ? ALWAYS : Math.max(1, serverTimeAgo(ageMs))
  if (!admitted) return [used, resetAfterMs, usedAt, 0, 0, 0, 0]
  const { uncounted, unsure, upTo } = admitted
  return [used, resetAfterMs, usedAt, uncounted, unsure, upTo, Math.max(1, serverTimeAgo(admitted.ageMs))]
}
