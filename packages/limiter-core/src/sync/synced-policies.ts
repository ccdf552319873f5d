import type { AlgorithmName, CompiledPolicy } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import type { SyncTerms } from './sync-terms.ts'

/** Algorithms whose cells contain sums and instants, to which units of several processes can be added. */
export const SYNCED_ALGORITHMS: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'token-bucket', 'gcra']
const LEAST_WINDOW_TICKS = 4

/** Throws `SLUICE_BAD_POLICY` if the counts of all processes cannot be exchanged in time for the policy. */
export function checkSynced(
  { name: owner, algorithms: kept }: { readonly name: string; readonly algorithms: readonly AlgorithmName[] },
  { policy, variants }: CompiledPolicy,
  { tickMs, nodes = 1 }: SyncTerms,
): void {
  const { name, algorithm, windowMs, limit } = policy
  const refuse = (got: string, expected: string): never => {
    throw new SluiceError('SLUICE_BAD_POLICY', `policy '${name}': expected ${expected}, received ${got} on ${owner}`)
  }
  const all = variants?.map(({ compiled }) => compiled.policy.algorithm) ?? [algorithm]
  const other = all.find((one) => !kept.includes(one))
  if (other) refuse(other, `${kept.join(', ')}; redisBackend keeps ${other}`)
  if (windowMs < LEAST_WINDOW_TICKS * tickMs) {
    const least = `${LEAST_WINDOW_TICKS} ticks of ${tickMs} ms or more`
    refuse(`a window of ${windowMs} ms`, `${least}; redisBackend keeps shorter ones`)
  }
  if (limit < nodes)
    refuse(`a limit of ${limit}`, `one unit for each of ${nodes} processes; redisBackend keeps smaller ones`)
}
