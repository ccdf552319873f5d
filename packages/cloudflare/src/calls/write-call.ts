import { knownOf, type RemoteRequest, reportedNumbers, reportedUsage, sentPolicyOf } from '@sluice/fleet/backend'
import type { CompiledPolicy } from '@sluice/limiter-core/backend'
import { type CallMessage, MARK, OPERATIONS, type SentCharge } from './call-message.ts'

/** Converts a time of the process to the object's clock; the result is never too late. */
export type ToObjectTime = (processAt: number) => number

const texts = new WeakMap<CompiledPolicy, string>()

/** Returns the body of a call with these requests. */
export function writeCall(
  times: Pick<CallMessage, 'deadline' | 'given' | 'durable'>,
  requests: readonly RemoteRequest[],
  toObjectTime: ToObjectTime,
): string {
  const names = new Map<string, number>()
  const policies = new Map<string, number>()
  const sent = requests.map((request) => {
    const { operation, charges, names: own, takenAt, id, requestedAt } = request
    const sentCharges = charges.map((charge, index): SentCharge => {
      const { counter, cost, advisory } = charge
      const name = indexOf(names, own[index])
      const policy = indexOf(policies, textOf(counter.compiled))
      const kind = advisory ? 1 : 0
      const known = knownOf(request, charge)
      if (!known) return [name, policy, cost, kind]
      const usage = reportedNumbers(reportedUsage(known, (ageMs) => toObjectTime(requestedAt - ageMs)))
      return [name, policy, cost, kind, usage]
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
