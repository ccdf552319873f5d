import { sentPolicyOf } from '@sluice/fleet/backend'
import type { CompiledPolicy, PriorUsage } from '@sluice/limiter-core/backend'
import { type CallMessage, MARK, OPERATIONS, type SentCharge, type SentUsage } from './call-message.ts'
import type { ObjectRequest } from './object-request.ts'

/** Converts a time of the process to the object's clock; the result is never too late. */
export type ToObjectTime = (processAt: number) => number

const texts = new WeakMap<CompiledPolicy, string>()

/** Returns the body of a call with these requests. */
export function writeCall(
  times: Pick<CallMessage, 'deadline' | 'given' | 'durable'>,
  requests: readonly ObjectRequest[],
  toObjectTime: ToObjectTime,
): string {
  const names = new Map<string, number>()
  const policies = new Map<string, number>()
  const sent = requests.map(({ operation, charges, names: own, takenAt, id, requestedAt }) => {
    const isReported = operation === 'take' || operation === 'adjust'
    const sentCharges = charges.map(({ counter, cost, advisory, known }, index): SentCharge => {
      const name = indexOf(names, own[index])
      const policy = indexOf(policies, textOf(counter.compiled))
      const kind = advisory ? 1 : 0
      if (!(isReported && known)) return [name, policy, cost, kind]
      return [name, policy, cost, kind, usageOf(known, (ageMs) => Math.max(1, toObjectTime(requestedAt - ageMs)))]
    })
    return [OPERATIONS[operation], takenAt, id, sentCharges] as const
  })
  const message: CallMessage = {
    mark: MARK,
    ...times,
    policies: [...policies.keys()],
    names: [...names.keys()],
    requests: sent,
  }
  return JSON.stringify(message)
}

function textOf(compiled: CompiledPolicy): string {
  let text = texts.get(compiled)
  if (text === undefined) {
    text = JSON.stringify(sentPolicyOf(compiled))
    texts.set(compiled, text)
  }
  return text
}

function indexOf(indexes: Map<string, number>, value: string): number {
  const known = indexes.get(value)
  if (known !== undefined) return known
  indexes.set(value, indexes.size)
  return indexes.size - 1
}

function usageOf({ used, resetAfterMs, ageMs, admitted }: PriorUsage, timeAgo: (ageMs: number) => number): SentUsage {
  const usedAt = ageMs === undefined ? null : timeAgo(ageMs)
  if (!admitted) return [used, resetAfterMs, usedAt, 0, 0, 0, 0]
  const { uncounted, unsure, upTo } = admitted
  return [used, resetAfterMs, usedAt, uncounted, unsure, upTo, timeAgo(admitted.ageMs)]
}
