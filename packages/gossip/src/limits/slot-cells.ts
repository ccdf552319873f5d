import type { AlgorithmName, CompiledPolicy } from '@sluice/limiter-core/backend'
import type { SlotForm, Slots } from './usage-slots.ts'

/** Algorithms whose cells are units by time. */
export const GOSSIP_ALGORITHMS: readonly AlgorithmName[] = ['fixed-window', 'sliding-window']

/** Policy counted in slots, with the index of its first cell among the cells of a key. */
export interface SlotPolicy extends SlotForm {
  readonly compiled: CompiledPolicy
  readonly at: number
}

/** Units of a key in the slots that count, current slot first, and the time of the last take in each. */
interface SlotSums {
  readonly start: number
  readonly units: Float64Array
  readonly lastAt: Float64Array
}

/** Returns the slots of a policy, or of each of its variants if plans have several. */
export function slotPolicies(compiled: CompiledPolicy): readonly SlotPolicy[] {
  const parts = compiled.variants ?? [{ compiled, at: 0 }]
  return parts.map((part) => {
    const { algorithm, windowMs, slices = 1 } = part.compiled.policy
    const kept = algorithm === 'fixed-window' ? 1 : slices + 1
    return { compiled: part.compiled, at: part.at, slotMs: windowMs / slices, kept }
  })
}

/** Returns the time in ms after which an item of a key no longer counts. */
export function keptMs(policies: readonly SlotPolicy[]): number {
  // one slot more, because slots of other replicas may end later
  return Math.ceil(Math.max(...policies.map(({ slotMs, kept }) => slotMs * (kept + 1))))
}

/**
 * Writes the cells of a policy: what all replicas took in the slot that started at `start`, which contains `now`, and in
 * the slots before it.
 */
export function writeCells(
  cells: number[],
  policy: SlotPolicy,
  start: number,
  usages: readonly Slots[],
  now: number,
): void {
  const sums = sumsOf(policy, start, usages)
  const { at, compiled } = policy
  if (sums.units.every((units) => units === 0)) return
  cells[at] = start
  if (compiled.policy.algorithm === 'sliding-window' && policy.kept === 2)
    writeEpochs(cells, at, sums, policy.slotMs, now)
  else for (const [age, units] of sums.units.entries()) cells[at + 1 + age] = units
}

/**
 * Writes the cells in the layout of `CompiledTwoEpochWindow`: its single time is that of the previous epoch while that
 * epoch has units. An epoch whose last unit has left the window no longer counts.
 */
function writeEpochs(
  cells: number[],
  at: number,
  { start, units, lastAt }: SlotSums,
  windowMs: number,
  now: number,
): void {
  const current = units[0]
  const previous = now >= Math.min(start, lastAt[1]) + windowMs ? 0 : units[1]
  cells[at + 1] = current
  cells[at + 2] = previous
  cells[at + 3] = previous > 0 ? Math.min(start, lastAt[1]) : lastAt[0]
}

function sumsOf({ slotMs, kept }: SlotForm, start: number, usages: readonly Slots[]): SlotSums {
  const sums = { start, units: new Float64Array(kept), lastAt: new Float64Array(kept) }
  for (const slots of usages) {
    for (let at = 0; at < slots.length; at += 3) {
      const age = Math.round((start - slots[at]) / slotMs)
      if (!(age >= 0 && age < kept)) continue
      sums.lastAt[age] = sums.units[age] > 0 ? Math.max(sums.lastAt[age], slots[at + 2]) : slots[at + 2]
      sums.units[age] += slots[at + 1]
    }
  }
  return sums
}
