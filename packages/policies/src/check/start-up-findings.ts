import { memoryBackend } from '@sluice/limiter-core'
import { messageOf } from '@sluice/limiter-core/backend'
import { openPolicies } from '@sluice/limiter-core/http'
import { textOfPath } from '../parse/positions.ts'
import { limiterFields } from '../requests/limiter-fields.ts'
import type { CheckedPolicy } from './checked-policy.ts'
import type { PlacedFinding } from './policy-finding.ts'

/** Names of options in messages of limiters that have another name in files. */
const FIELDS: Readonly<Record<string, string>> = { window: 'per' }

/** Matches the message of a limiter: the options, such as `ban: after`, and what it expected. */
const MESSAGE = /: policy '.*?': (\w+(?:: \w+)?): (expected .*?)(?: \(https:\S+\))?$/s

/** Returns the fields that a limiter refuses when it starts: each limit of each policy is opened as a limiter does. */
export function startUpFindings(policies: readonly CheckedPolicy[]): PlacedFinding[] {
  const backend = memoryBackend({ maxBytes: CHECK_BYTES })
  return policies.flatMap((policy) => {
    // each limit has the same problem with the other fields
    const refused = new Map<string, PlacedFinding>()
    const accepted = new Set<number>()
    for (const { limit, at } of [...policy.limits, ...policy.overrides]) {
      if (accepted.has(limit)) continue
      const finding = refusal(policy, limit, at, backend) ?? tooCostly(policy, limit)
      if (finding === undefined) accepted.add(limit)
      else if (!refused.has(textOfPath(finding.at))) refused.set(textOfPath(finding.at), finding)
    }
    return [...refused.values()]
  })
}

/** Memory for the counters of one policy, which count nothing. */
const CHECK_BYTES = 1_048_576

function refusal(
  { name, written, algorithm, at: atPolicy }: CheckedPolicy,
  limit: number,
  at: PlacedFinding['at'],
  backend: ReturnType<typeof memoryBackend>,
): PlacedFinding | undefined {
  try {
    // the algorithm depends on the largest of all limits of the policy
    const [opened] = openPolicies([[{ ...limiterFields(written), algorithm, limit }]], { backend })
    for (const { close } of opened) close()
    return undefined
  } catch (error) {
    const [, options = '', message = ''] = MESSAGE.exec(messageOf(error)) ?? []
    const path = options.split(': ').map((option) => FIELDS[option] ?? option)
    const place = options === 'limit' || options === '' ? at : [...atPolicy, ...path]
    const text = options ? `${path.join('.')}: ${message}` : messageOf(error)
    return { rule: 'refused', severity: 'error', policy: name, at: place, message: text }
  }
}

function tooCostly({ name, written, at }: CheckedPolicy, limit: number): PlacedFinding | undefined {
  const { cost = 1, burst = limit } = written
  const [units, field] = typeof cost === 'number' ? [cost, ['cost']] : [cost.reserve, ['cost', 'reserve']]
  if (units <= burst) return undefined
  const message = `${field.join('.')}: expected at most ${burst}, the units of an unused key, received ${units}`
  return { rule: 'refused', severity: 'error', policy: name, at: [...at, ...field], message }
}
