import type { SluiceModuleOptions } from './sluice-options.ts'

/** Limits as options or decorators contain them, not validated yet. */
type Limits = Readonly<Partial<Record<keyof SluiceModuleOptions, unknown>>>

/**
 * Whether limits may have work to do at the end of a call: to release a permit, to settle a cost, or to count the outcome
 * for a ban. True for policies that can change. Invalid options are validated elsewhere.
 */
export function workAtEnd({ inflightLimit, rateLimit, slowDown, policies, contexts }: Limits): boolean {
  if (inflightLimit || settles(rateLimit) || settles(slowDown) || settles({ policies })) return true
  return Object.values(contexts ?? {}).some(workAtEnd)
}

function settles(options: unknown): boolean {
  if (typeof options !== 'object' || options === null) return false
  const { countOnly, cost, ban, policies, plans } = options as Partial<Record<string, unknown>>
  if (countOnly !== undefined || typeof cost === 'object' || needsOutcome(ban)) return true
  if (policies !== undefined) return !Array.isArray(policies) || policies.some(settles)
  return Object.values(plans ?? {}).some((plan) => settles({ policies: plan }))
}

function needsOutcome(ban: unknown): boolean {
  const { strikes, forgiveOn } = Object(ban) as { readonly strikes?: unknown; readonly forgiveOn?: unknown }
  return (strikes !== undefined && strikes !== 'denials') || forgiveOn !== undefined
}
