import { knownOf, type RemoteRequest, reportedNumbers, reportedUsage } from '@sluice/fleet/backend'
import {
  type Charge,
  type CompiledPolicy,
  type HoldChange,
  type PriorUsage,
  retentionMs,
} from '@sluice/limiter-core/backend'
import { policyNumbers } from './policy-numbers.ts'

const OPERATIONS = { take: 0, peek: 1, adjust: 2, reset: 3 } as const

/** Converts a time of the process to the server's clock; the result is never too late. */
export type ToServerTime = (processAt: number) => number

/** Whether the request is a take of one enforced charge without prior usage. */
export function isPlainTake({ operation, charges }: RemoteRequest): boolean {
  const [{ advisory, known, hold }] = charges
  return operation === 'take' && charges.length === 1 && !advisory && !known && !hold
}

/** Returns the arguments `of_key`, `p` and `cost` of the function `limit1_take`. */
export function takeArguments({ names, charges: [{ counter, cost }] }: RemoteRequest): unknown[] {
  return [names[0], `{${policyNumbers(counter.compiled).join(',')}}`, cost]
}

/** Returns the arguments `keys`, `ids` and `g` of the function `limit1_decide`. */
export function decideArguments(
  requests: readonly RemoteRequest[],
  toServerTime: ToServerTime,
): [keys: string[], ids: string[], numbers: string] {
  const keys = new Map<string, number>()
  const policies = new Map<CompiledPolicy, number>()
  const numbers: number[] = []
  for (const request of requests) {
    const { operation, charges, takenAt, requestedAt } = request
    numbers.push(OPERATIONS[operation], takenAt, charges.length)
    for (const [index, charge] of charges.entries()) {
      const known = knownOf(request, charge)
      const [key, policy] = [numberOf(keys, request.names[index]), numberOf(policies, charge.counter.compiled)]
      const usage = known ? reportedNumbers(reportedUsage(known, (ageMs) => toServerTime(requestedAt - ageMs))) : []
      const cost = operation === 'reset' ? lifeOf(charge) : charge.cost
      numbers.push(key, policy, cost, kindOf(charge, known), ...usage, ...holdNumbers(charge.hold))
    }
  }
  const head = [...policies.keys()].flatMap((compiled) => {
    const each = policyNumbers(compiled)
    return [each.length, ...each]
  })
  return [[...keys.keys()], requests.map(({ id }) => id), `{${[policies.size, ...head, ...numbers].join(',')}}`]
}

/** Returns the time in ms for which earlier usage of the key may be reported. */
function lifeOf({ counter }: Charge): number {
  return Math.min(Math.ceil(retentionMs(counter.compiled)), Number.MAX_SAFE_INTEGER)
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
