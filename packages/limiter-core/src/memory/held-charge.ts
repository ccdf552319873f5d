import type { Charge, CompiledPolicy } from '../contracts.ts'
import type { SlotRef } from './shard.ts'

type Units = Pick<Charge, 'cost' | 'hold'>

/** Returns the units that must be free for a take: not those that an earlier hold of the same work still holds. */
export function neededUnits(
  { cost, hold }: Units,
  { holds }: CompiledPolicy,
  { cells, at }: SlotRef,
  now: number,
): number {
  return hold?.from && holds
    ? Math.max(0, cost - holds.heldOf(cells, at, now, hold.from.units, hold.from.endsAt))
    : cost
}

/** Spends or holds the cost of a take. The caller has checked that it fits. */
export function takeUnits(charge: Units, compiled: CompiledPolicy, slot: SlotRef, now: number): void {
  const { cost, hold } = charge
  const { cells, at } = slot
  const { holds, bookings } = compiled
  if (!hold || !holds) {
    compiled.spend(cells, at, now, cost)
    return
  }
  const needed = neededUnits(charge, compiled, slot, now)
  releaseUnits(charge, compiled, slot, now)
  if (needed > 0) bookings?.pass(cells, at, now, needed)
  holds.hold(cells, at, now, cost, holds.endsAt(now, hold.forMs))
}

/** Releases the units of the earlier hold that a charge replaces. */
export function releaseUnits(
  { hold }: Pick<Charge, 'hold'>,
  { holds }: CompiledPolicy,
  { cells, at }: SlotRef,
  now: number,
): void {
  if (hold?.from) holds?.release(cells, at, now, hold.from.units, hold.from.endsAt)
}
