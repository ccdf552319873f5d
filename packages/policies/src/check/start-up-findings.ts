import { messageOf } from '@sluice/limiter-core/backend'
import { type CheckedPolicy, compiledWith } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'

/** Names of options in messages of limiters that have another name in files. */
const FIELDS: Readonly<Record<string, string>> = { window: 'per' }

/** Returns the fields that a limiter refuses when it starts: algorithms with options or limits that they do not have. */
export function startUpFindings(policies: readonly CheckedPolicy[]): PlacedFinding[] {
  return policies.flatMap((policy) => {
    const refused = [...policy.limits, ...policy.overrides].flatMap(({ limit, at }) => {
      const finding = refusal(policy, limit, at) ?? tooCostly(policy, limit)
      return finding === undefined ? [] : [finding]
    })
    // each limit has the same problem with the other fields
    return refused.filter(({ at }, index) => refused.findIndex((other) => isSame(other.at, at)) === index)
  })
}

function refusal(policy: CheckedPolicy, limit: number, at: PlacedFinding['at']): PlacedFinding | undefined {
  try {
    compiledWith(policy, limit)
    return undefined
  } catch (error) {
    const [, option = '', message = ''] =
      /: policy '.*?': (\w+): (.*?)(?: \(https:\S+\))?$/s.exec(messageOf(error)) ?? []
    const field = FIELDS[option] ?? option
    const place = option === 'limit' || option === '' ? at : [...policy.at, field]
    const text = `${field}: ${message}`
    return {
      rule: 'refused',
      severity: 'error',
      policy: policy.name,
      at: place,
      message: option ? text : messageOf(error),
    }
  }
}

function tooCostly({ name, written, at }: CheckedPolicy, limit: number): PlacedFinding | undefined {
  const { cost = 1, burst = limit } = written
  const [units, field] = typeof cost === 'number' ? [cost, ['cost']] : [cost.reserve, ['cost', 'reserve']]
  if (units <= burst) return undefined
  const message = `${field.join('.')}: expected at most ${burst}, the units of an unused key, received ${units}`
  return { rule: 'refused', severity: 'error', policy: name, at: [...at, ...field], message }
}

function isSame(one: PlacedFinding['at'], other: PlacedFinding['at']): boolean {
  return one.length === other.length && one.every((step, index) => step === other[index])
}
