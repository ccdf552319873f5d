import type { Algorithm } from '../contracts.ts'
import { badValue } from '../errors/bad-option.ts'
import { CompiledSlicedWindow } from './sliced-window.ts'
import { CompiledTwoEpochWindow } from './two-epoch-window.ts'

// each slice needs 8 bytes per key; 60 slices divide a minute into seconds
const MAX_SLICES = 60

/** The weighted two-epoch counter for one slice; a window of slices, which never exceeds the limit, for more. */
export const slidingWindow: Algorithm = {
  name: 'sliding-window',
  version: 2,
  compile(policy) {
    const slices = policy.slices ?? 1
    if (!Number.isInteger(slices) || slices < 1 || slices > MAX_SLICES) {
      const expected = `an integer from 1 to ${MAX_SLICES}`
      throw badValue('SLUICE_BAD_POLICY', `policy '${policy.name}': slices`, slices, expected)
    }
    return slices === 1 ? new CompiledTwoEpochWindow(policy, policy.limit) : new CompiledSlicedWindow(policy, slices)
  },
}
