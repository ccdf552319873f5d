import { type Policy, SluiceError } from '@sluice/limiter-core'
import type { WindowKind } from './window-rule.ts'

/** Returns how a policy reads a window with this many slots. Throws `SLUICE_BAD_POLICY` if it cannot. */
export function kindInSlots(policy: Policy, slots: number): WindowKind {
  const { algorithm, slices = 1 } = policy
  if (algorithm === 'fixed-window') return 'fixed'
  if (algorithm === 'sliding-window' && slices === 1) return 'weighted'
  if (algorithm === 'sliding-window' && slices === slots) return 'whole'
  const got = algorithm === 'sliding-window' ? `slices: ${slices}` : algorithm
  throw refused(
    policy,
    `expected fixed-window, or sliding-window with 1 or ${slots} slices (the slots of this sketchBackend), received ${got}`,
  )
}

export function refused({ name }: Policy, why: string): SluiceError {
  return new SluiceError('SLUICE_BAD_POLICY', `policy '${name}': ${why}`)
}
