import { type AlgorithmName, type CompiledPolicy, SluiceError } from '@sluice/limiter-core/backend'
import type { SyncTerms } from './sync-terms.ts'

/** Algorithms whose cells are sums and times, so that units of several processes can be added. */
export const SYNCED_ALGORITHMS: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'token-bucket', 'gcra']
const MIN_WINDOW_TICKS = 4

/**
 * Throws `SLUICE_BAD_POLICY` if counts of several processes cannot be added up for the algorithm, the window is shorter
 * than four ticks, or the limit is below the number of processes.
 */
export function checkSynced(
  { name: owner, algorithms: kept }: { readonly name: string; readonly algorithms: readonly AlgorithmName[] },
  { policy, variants }: CompiledPolicy,
  { tickMs, nodes = 1 }: SyncTerms,
): void {
  const { name, algorithm, windowMs, limit } = policy
  const refuse = (option: string, expected: string, received: string): never => {
    const message = `${option}: expected ${expected} on ${owner}, received ${received}; redisBackend supports it`
    throw new SluiceError('SLUICE_BAD_POLICY', `policy '${name}': ${message}`)
  }
  const all = variants?.map(({ compiled }) => compiled.policy.algorithm) ?? [algorithm]
  const other = all.find((one) => !kept.includes(one))
  if (other) refuse('algorithm', kept.map((one) => `'${one}'`).join(', '), `'${other}'`)
  const leastMs = MIN_WINDOW_TICKS * tickMs
  if (windowMs < leastMs) {
    refuse('window', `at least ${leastMs} ms (${MIN_WINDOW_TICKS} ticks of ${tickMs} ms)`, `${windowMs} ms`)
  }
  if (limit < nodes) refuse('limit', `at least one unit for each of ${nodes} processes`, `${limit}`)
}
