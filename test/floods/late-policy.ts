import { childResult } from './child.ts'

/** What became of a policy that met a budget full of the keys of others. */
interface Late {
  /** Slot widths on the backend. */
  readonly count: number
  readonly keys: number
  /** Of its keys, those that were not as it had left them. */
  readonly lost: number
  /** What a client had above its limit. */
  readonly above: number
}

/** Numbers of slot widths with which a late policy lost keys or a limit. */
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
