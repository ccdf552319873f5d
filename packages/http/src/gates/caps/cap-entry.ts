import { type HeaderEntry, type HeaderPlan, stringItem } from '@sluice/limiter-core/http'

/** Returns the header content of a full cap: its limit and 0 remaining. The time of the next release is unknown. */
export function capEntry(plan: HeaderPlan, name: string, limit: number): HeaderEntry {
  const item = stringItem(name)
  return {
    plan,
    allowed: false,
    policyItems: `${item};q=${limit};qu="concurrent-requests"`,
    rateItems: `${item};${plan.list?.available ?? 'r'}=0`,
    binding: undefined,
    verdicts: [],
  }
}
