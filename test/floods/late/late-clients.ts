import { childResult } from '../child.ts'

/** Clients of a policy that was added when the budget was full of keys of other policies. */
interface LateClients {
  /** Number of policies. */
  readonly count: number
  readonly algorithm: string
  /** Part of their limit that the keys of the other policies used; 0 for one unit. */
  readonly part: number
  readonly clients: number
  readonly limit: number
  /** Units that passed for the client with the most. */
  readonly most: number
}

/** Returns the runs in which a client passed more than its limit and the half that an eviction may forget. */
export async function overAdmitted(
  maxBytes: number,
  algorithm: string,
  seed: number,
  counts: readonly number[],
): Promise<LateClients[]> {
  const args = [maxBytes, algorithm, seed, ...counts].map(String)
  const all = await childResult<LateClients[]>('floods/children/late-clients.ts', { args, timeoutMs: 1_200_000 })
  if (all.length !== counts.length || all.some(({ most, limit }) => most < limit)) throw new Error(JSON.stringify(all))
  return all.filter(({ most, limit }) => most > 1.5 * limit)
}
