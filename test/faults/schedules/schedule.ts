import { crc32 } from 'node:zlib'
import type { AlgorithmName, BackendErrorRule } from '@sluice/limiter-core'
import { type SeededRandom, seededRandom } from '@sluice/testkit'

export type Counting = 'exact' | 'leased'

/** Policies by purpose: never full; soon full, for a long time; full repeatedly. */
export type PolicyName = 'roomy' | 'tight' | 'brief'

export interface KeyName {
  readonly policy: PolicyName
  readonly key: string
  /** The only member that uses the key. Undefined if all members use it. */
  readonly owner: number | undefined
}

/** One event. A fault lasts until the next `heal`. */
export type Action =
  | { readonly does: 'take'; readonly member: number; readonly key: KeyName; readonly cost: number }
  | { readonly does: 'peek' | 'reset'; readonly member: number; readonly key: KeyName }
  | { readonly does: 'refund'; readonly member: number; readonly key: KeyName; readonly part: number }
  | { readonly does: 'fault'; readonly fault: string; readonly member: number; readonly strength: number }
  | { readonly does: 'heal' | 'recover' }
  | { readonly does: 'rest'; readonly ms: number }

/** The fleet and all events that are drawn from a seed. */
export interface Schedule {
  readonly seed: number
  readonly counting: Counting
  readonly algorithm: AlgorithmName
  readonly slices: number
  readonly rule: BackendErrorRule
  readonly deadlineMs: number
  readonly members: number
  /** Whether its servers lose their counts. The effect of a reset or a refund is then unknown. */
  readonly loses: boolean
  /** Whether other servers take over with all counts. */
  readonly changes: boolean
  readonly actions: readonly Action[]
}

export interface Draw {
  /** Name that makes draws from the same seed differ between settings. */
  readonly name: string
  readonly counting: Counting
  /** Possible faults of the servers of the schedule. */
  readonly faults: readonly string[]
  readonly members: number
  /** Each round has one fault or none. */
  readonly rounds: number
  readonly loses: boolean
  readonly changes: boolean
}

const ALGORITHMS: readonly AlgorithmName[] = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra']

export function drawSchedule(seed: number, draw: Draw): Schedule {
  // adjacent seeds produce similar first numbers
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ crc32(draw.name))
  const { counting, members, loses, changes } = draw
  const algorithm = random.pick(ALGORITHMS.filter((one) => counting === 'exact' || one !== 'sliding-log'))
  const slices = algorithm === 'sliding-window' ? random.pick([1, 1, 6]) : 1
  const rule = random.pick<BackendErrorRule>(['local', 'local', 'local', 'local', 'local', 'allow', 'deny'])
  const deadlineMs = random.pick([50, 50, 200, 1_000])
  const keys = keysOf(members)
  const actions = Array.from({ length: draw.rounds }, () => round(random, draw, keys)).flat()
  return { seed, counting, algorithm, slices, rule, deadlineMs, members, loses, changes, actions }
}

function keysOf(members: number): readonly KeyName[] {
  const own = Array.from({ length: members }, (_, owner) => ({ policy: 'roomy' as const, key: `own ${owner}`, owner }))
  const shared = (['roomy', 'roomy', 'tight', 'tight', 'brief'] as const).map((policy, index) => {
    return { policy, key: `shared ${index}`, owner: undefined }
  })
  return [...own, ...shared]
}

function round(random: SeededRandom, draw: Draw, keys: readonly KeyName[]): Action[] {
  const length = 12 + random.whole(24)
  const actions = Array.from({ length }, () => ordinary(random, draw, keys))
  if (random.whole(8) > 0) {
    const from = random.whole(length)
    actions.splice(from, 0, fault(random, draw))
    // sometimes another fault starts before the previous one is over
    if (random.whole(5) === 0) actions.splice(from + random.whole(length - from), 0, fault(random, draw))
  }
  return [...actions, { does: random.pick(['heal', 'recover', 'recover'] as const) }]
}

function ordinary(random: SeededRandom, draw: Draw, keys: readonly KeyName[]): Action {
  const key = random.pick(keys)
  const member = key.owner ?? random.whole(draw.members)
  const kind = random.whole(100)
  if (kind < 12) return { does: 'rest', ms: 1 + random.whole(20) }
  if (kind < 17) return { does: 'peek', member, key }
  // after the end of a window its contents are unknown
  const takesBack = !draw.loses && key.policy !== 'brief'
  if (takesBack && kind < 34) return { does: 'refund', member, key, part: random.next() }
  if (takesBack && kind < 36) return { does: 'reset', member, key }
  return { does: 'take', member, key, cost: 1 + random.whole(random.pick([1, 1, 5])) }
}

function fault(random: SeededRandom, { faults, members }: Draw): Action {
  return { does: 'fault', fault: random.pick(faults), member: random.whole(members), strength: random.next() }
}
