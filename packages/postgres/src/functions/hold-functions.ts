import { createFunction } from './algorithm-functions.ts'
import type { FunctionNames } from './function-names.ts'
import { holdingBlocks } from './generated.ts'

/**
 * Functions of policies with holds. `p` is described at `policyNumbers`. The cells are the end of the last slice, the units that are held until the end of each slice, the last slice first, and the cells
 * of the policy.
 */
export function holdFunctions({ schema }: FunctionNames): string {
  const params = 'p float8[], c float8[], now float8, units float8'
  const { heldOf, hold, release } = holdingBlocks
  return [
    createFunction(`${schema}.limit1_still_held(${params}, ends_at float8)`, 'float8', heldOf),
    createFunction(`${schema}.limit1_hold(${params}, for_ms float8)`, 'float8[]', hold),
    createFunction(`${schema}.limit1_release(${params}, ends_at float8)`, 'float8[]', release),
  ].join('\n')
}
