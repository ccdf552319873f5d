import type { SeededRandom } from '@sluice/testkit'

const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const
const WINDOWS = [10_000, 60_000, 600_000]
/** The client of all requests. */
export const KEY = '192.0.2.1'

/** A policy of one name in a file, whose client has `limit` units in the window. */
export interface DrawnPolicy {
  readonly text: string
  readonly limit: number
  readonly windowMs: number
}

/** Draws a policy, and adds its features. `terms`: more terms of the policy, by their feature. */
export function drawPolicy(
  random: SeededRandom,
  features: Set<string>,
  terms: readonly Readonly<Record<string, unknown>>[],
): DrawnPolicy {
  const algorithm = random.pick(ALGORITHMS)
  const limit = 1 + random.whole(20)
  const windowMs = random.pick(WINDOWS)
  const form = random.pick(['number', 'plan', 'override'] as const)
  const slices = algorithm === 'sliding-window' ? random.pick([undefined, 2, 4]) : undefined
  const more = random.pick(terms)
  for (const feature of [algorithm, form, slices && 'slices', ...Object.keys(more)]) if (feature) features.add(feature)
  const written = form === 'plan' ? { free: limit, pro: 20 } : form === 'override' ? 7 : limit
  const policy = { name: 'api', limit: written, per: `${windowMs / 1_000}s`, algorithm, slices, ...more }
  const overrides = form === 'override' ? [{ policy: 'api', key: KEY, limit }] : undefined
  return { text: JSON.stringify({ version: 1, policies: [policy], overrides }), limit, windowMs }
}
