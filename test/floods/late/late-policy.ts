import { childResult } from '../child.ts'

/** Results of a policy added when the budget is full of keys of other policies. */
interface Late {
  /** Slot widths on the backend. */
  readonly count: number
  readonly keys: number
  /** Number of its keys whose counts had changed. */
  readonly lost: number
  /** Units that a client got above its limit. */
  readonly above: number
}

/** Slot widths with which a late policy lost keys or exceeded a limit. */
export async function wronged(
  maxBytes: number,
  others: 'expired' | 'live',
  seed: number,
  counts: readonly number[],
): Promise<Late[]> {
  const args = [maxBytes, others, seed, ...counts].map(String)
  const all = await childResult<Late[]>('floods/children/widths.ts', { args, timeoutMs: 600_000 })
  if (all.length !== counts.length || all.some(({ keys }) => keys < 1)) throw new Error(JSON.stringify(all))
  return all.filter(({ lost, above }) => lost > 0 || above > 0)
}

export const FROM_2_TO_40: readonly number[] = Array.from({ length: 39 }, (_, index) => index + 2)
