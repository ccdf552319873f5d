import type { Backend, Charge } from './contracts.ts'
import { SluiceError } from './errors.ts'
import type { Lane } from './lanes.ts'
import { kindOf } from './shown.ts'

/** One key for all policies, or one for each by name. */
export type Keys = string | Readonly<Record<string, string>>
/** One cost for all policies, or one for each by name. */
export type Costs = number | Readonly<Record<string, number>>

/** One charge for each lane. `whole` checks costs; throws `SLUICE_BAD_KEY` and `SLUICE_BAD_COST`. */
export function chargesOf(
  lanes: readonly Lane[],
  keys: Keys,
  costs: Costs,
  whole: (value: unknown) => number,
): Charge[] {
  return lanes.map((lane) => {
    const { name } = lane.step.policy
    const key = typeof keys === 'string' ? keys : ownValue(keys, name, 'SLUICE_BAD_KEY', 'key')
    if (typeof key !== 'string') {
      throw new SluiceError('SLUICE_BAD_KEY', `key for '${name}': got ${kindOf(key)}, expected a string`)
    }
    const cost = whole(typeof costs === 'number' ? costs : ownValue(costs, name, 'SLUICE_BAD_COST', 'cost'))
    return chargeOf(lane, key, cost)
  })
}

export function chargeOf({ step, count, mode }: Lane, key: string, cost: number): Charge {
  return { key, step, count, cost, advisory: mode === 'shadow' }
}

function ownValue<T>(
  values: Readonly<Record<string, T>>,
  name: string,
  code: 'SLUICE_BAD_KEY' | 'SLUICE_BAD_COST',
  what: string,
): T {
  if (typeof values === 'object' && values !== null && Object.hasOwn(values, name)) return values[name]
  const expected = `one ${what}, or one for each policy, among them '${name}'`
  throw new SluiceError(code, `${what}: got ${kindOf(values)}, expected ${expected}`)
}

/** The only policy of a limiter, enforced by a backend that answers single charges at once. */
export interface SoleLane {
  readonly step: Lane['step']
  readonly count: string
  readonly backend: Backend & Required<Pick<Backend, 'takeOne'>>
}

export function soleLane(lanes: readonly Lane[]): SoleLane | undefined {
  const [{ step, count, backend, mode }] = lanes.length === 1 ? lanes : [{ mode: 'off' } as Lane]
  if (mode !== 'enforce' || !backend.takeOne) return undefined
  return { step, count, backend: backend as SoleLane['backend'] }
}
