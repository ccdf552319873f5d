import type { Algorithm } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'
import { CompiledSlicedWindow } from './sliced-window.ts'
import { CompiledTwoEpochWindow } from './two-epoch-window.ts'

// a slice costs 8 bytes a key, and 60 make a minute of seconds
const MAX_SLICES = 60

/** With one slice: the weighted two-epoch counter. With more: whole slices, never above the limit. */
export const slidingWindow: Algorithm = {
  name: 'sliding-window',
  version: 2,
  compile(policy) {
    const slices = policy.slices ?? 1
    if (!Number.isInteger(slices) || slices < 1 || slices > MAX_SLICES) {
      throw new SluiceError(
        'SLUICE_BAD_POLICY',
        `policy '${policy.name}': slices: expected a whole number from 1 to ${MAX_SLICES}, received ${shown(slices, 'slices')}`,
      )
    }
    return slices === 1 ? new CompiledTwoEpochWindow(policy) : new CompiledSlicedWindow(policy, slices)
  },
}
