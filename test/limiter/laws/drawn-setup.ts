import { limitOverrides, type PolicyInput } from '@sluice/limiter-core'
import type { SeededRandom } from '@sluice/testkit'
import {
  ALGORITHMS,
  type AlgorithmFeature,
  type Feature,
  RULES,
  type Rule,
  STEPS,
  STORAGES,
  type StepKind,
  type Storage,
} from './features.ts'

/** `PLAIN` has no override. */
export const OVERRIDDEN = 'a'
export const PLAIN = 'b'
export const KEYS: readonly string[] = [OVERRIDDEN, PLAIN]
const POLICIES = 4
const FAULTS: readonly StepKind[] = ['failure', 'late reply', 'server clock back']
export const LONGEST_WINDOW_MS = 60_000
export const LONGEST_BAN_MS = 40_000

/** A policy of one plan, and its features. */
export interface DrawnPolicy {
  readonly input: PolicyInput & { readonly name: string; readonly limit: number; readonly window: number }
  readonly storage: Storage
  /** Limits and windows of which a function chooses one for each request. */
  readonly limits?: readonly number[] | undefined
  readonly windows?: readonly number[] | undefined
  /** The limit of `OVERRIDDEN`. */
  readonly override?: number | undefined
  readonly features: readonly Feature[]
}

export interface DrawnSetup {
  readonly entrance: 'code' | 'requests'
  readonly rule: Rule
  /** One plan, or two with the same names. */
  readonly plans: readonly (readonly DrawnPolicy[])[]
  readonly steps: readonly StepKind[]
}

/** Draws a setup with all `wanted` features, and others. */
export function drawSetup(random: SeededRandom, wanted: ReadonlySet<string>): DrawnSetup {
  const has = (feature: Feature, chance: number): boolean => wanted.has(feature) || random.next() < chance
  const entrance = needsRequests(wanted) || random.whole(5) > 0 ? 'requests' : 'code'
  const rule = RULES.find((one) => wanted.has(one)) ?? random.pick(RULES)
  const hasPlans = entrance === 'requests' && !wanted.has('reload') && has('plans', 0.45)
  const steps = drawSteps(random, wanted, hasPlans)
  const policies = drawPolicies(random, wanted, entrance === 'requests')
  const plans = hasPlans ? [policies, policies.map((policy) => otherPlan(random, policy))] : [policies]
  return { entrance, rule, plans, steps }
}

function needsRequests(wanted: ReadonlySet<string>): boolean {
  return ['requests', 'plans', 'limit function', 'window function'].some((feature) => wanted.has(feature))
}

function drawSteps(random: SeededRandom, wanted: ReadonlySet<string>, hasPlans: boolean): StepKind[] {
  const steps: StepKind[] = ['take', 'take', 'take', 'take', 'take', 'take', 'pass', 'pass']
  for (const step of STEPS) {
    if (step === 'reload' && hasPlans) continue
    const chance = step === 'restart' || step === 'failure' ? 0.95 : 0.9
    if (wanted.has(step) || random.next() < chance) steps.push(step)
  }
  // faults at the end, because what follows them is not exact
  const isFault = (step: StepKind): boolean => FAULTS.includes(step)
  const faults = shuffled(random, steps.filter(isFault))
  // under each rule
  if (steps.includes('restart') && steps.includes('failure')) faults.push('restart', 'failure', 'restart', 'failure')
  const others = shuffled(
    random,
    steps.filter((step) => !isFault(step)),
  )
  const exact = random.whole(others.length)
  return [...others.slice(0, exact), ...mixed(random, others.slice(exact), faults)]
}

/** Returns the steps of both lists in a random order that keeps the order of each list. */
function mixed<T>(random: SeededRandom, one: readonly T[], other: readonly T[]): T[] {
  const result: T[] = []
  let [a, b] = [0, 0]
  while (a < one.length || b < other.length) {
    const isOne = random.whole(one.length - a + other.length - b) < one.length - a
    result.push(isOne ? one[a++] : other[b++])
  }
  return result
}

function drawPolicies(random: SeededRandom, wanted: ReadonlySet<string>, isRequests: boolean): DrawnPolicy[] {
  const algorithms = wantedFirst(random, ALGORITHMS, wanted, POLICIES)
  const storages = wantedFirst(random, STORAGES, wanted, random.pick([3, 4]))
  const homes = algorithms.map((_, index) => storages[index % storages.length])
  // no log can be synced
  const log = algorithms.indexOf('sliding-log')
  if (log >= 0 && homes[log] === 'synced') {
    const other = homes.findIndex((home) => home !== 'synced')
    homes[log] = homes[other]
    homes[other] = 'synced'
  }
  const owners = new Map<Feature, number>()
  const places = shuffled(
    random,
    homes.map((_, index) => index),
  )
  const chosen = (feature: Feature, index: number, chance: number, fits: (home: Storage) => boolean): boolean => {
    if (!fits(homes[index])) return false
    if (wanted.has(feature) && !owners.has(feature)) {
      owners.set(feature, places.find((place) => fits(homes[place])) ?? -1)
    }
    return owners.get(feature) === index || random.next() < chance
  }
  const any = (): boolean => true
  return algorithms.map((algorithm, index) => {
    const storage = homes[index]
    const booksTurns = storage === 'memory' || storage === 'server'
    const features: Feature[] = [algorithm, storage]
    const add = (feature: Feature, chance: number, fits: (home: Storage) => boolean = any): boolean => {
      if (!chosen(feature, index, chance, fits)) return false
      features.push(feature)
      return true
    }
    const limit = limitOn(random, storage)
    const exempts = add('exempt', 0.2)
    const override = add('overrides', 0.3) || exempts ? limitOn(random, storage) : undefined
    const booked = booksTurns && add('booked', 0.5, (home) => home === 'memory' || home === 'server')
    const input: DrawnPolicy['input'] = {
      name: `p${index}`,
      ...drawTerms(random, algorithm, limit),
      ...(add('holds', 0.5) && { maxHoldMs: 2_000 + random.whole(20_000) }),
      ...(booked && { retry: 'booked' as const }),
      ...(add('ban', 0.5) && { ban: drawBan(random) }),
      ...(add('shadow', 0.2) && { mode: 'shadow' as const }),
      ...(override !== undefined && {
        overrides: limitOverrides({ limits: { [OVERRIDDEN]: override }, others: exempts ? 'exempt' : 'policy' }),
      }),
    }
    const isOff = !features.includes('shadow') && add('off', 0.35, (home) => home !== 'server')
    return {
      input: isOff ? { ...input, mode: 'off' } : input,
      storage,
      features: exempts && !features.includes('overrides') ? [...features, 'overrides'] : features,
      override,
      limits: isRequests && add('limit function', 0.3) ? [limit, limit + 1 + random.whole(limit)] : undefined,
      windows: isRequests && add('window function', 0.35) ? [input.window, input.window + 5_000] : undefined,
    }
  })
}

/** Returns the policy in another plan or after a reload: with other terms, or the same. */
export function otherTerms(random: SeededRandom, drawn: DrawnPolicy): DrawnPolicy {
  if (random.whole(2) === 0) return drawn
  const algorithms = ALGORITHMS.filter((one) => drawn.storage !== 'synced' || one !== 'sliding-log')
  const algorithm = random.pick(algorithms)
  const { algorithm: _algorithm, slices: _slices, burst: _burst, ...rest } = drawn.input
  const limit = limitOn(random, drawn.storage)
  const others = drawn.features.filter((one) => !(ALGORITHMS as readonly Feature[]).includes(one))
  return {
    ...drawn,
    input: { ...rest, ...drawTerms(random, algorithm, limit) },
    limits: drawn.limits && [limit, limit + 1 + random.whole(limit)],
    windows: undefined,
    features: [algorithm, ...others.filter((one) => one !== 'window function')],
  }
}

function otherPlan(random: SeededRandom, drawn: DrawnPolicy): DrawnPolicy {
  // windows of requests need one algorithm
  const { features, ...other } = drawn.windows ? drawn : otherTerms(random, drawn)
  return { ...other, features: [...features, 'plans'] }
}

function drawTerms(
  random: SeededRandom,
  algorithm: AlgorithmFeature,
  limit: number,
): Pick<PolicyInput, 'algorithm' | 'slices' | 'burst'> & { readonly limit: number; readonly window: number } {
  const window = 10_000 + random.whole(LONGEST_WINDOW_MS - 10_000)
  if (algorithm === 'slices')
    return { limit, window, algorithm: 'sliding-window', slices: random.pick([2, 3, 7] as const) }
  if (algorithm === 'burst') {
    return { limit, window, algorithm: random.pick(['token-bucket', 'gcra']), burst: 1 + random.whole(2 * limit) }
  }
  return { limit, window, algorithm }
}

function drawBan(random: SeededRandom): NonNullable<PolicyInput['ban']> {
  return {
    after: 1 + random.whole(3),
    within: '30s',
    for: '10s',
    max: LONGEST_BAN_MS,
    ...(random.whole(2) === 0 && { growth: 2 }),
    ...(random.whole(3) === 0 && { strikes: 'failures' as const }),
    ...(random.whole(3) === 0 && { forgiveOn: 'success' as const }),
    ...(random.whole(4) === 0 && { extend: true }),
  }
}

/** Returns a limit; a storage with leases does not lease small ones. */
function limitOn(random: SeededRandom, storage: Storage): number {
  return storage === 'leased' ? 16 + random.whole(40) : 1 + random.whole(20)
}

function wantedFirst<T extends string>(
  random: SeededRandom,
  all: readonly T[],
  wanted: ReadonlySet<string>,
  count: number,
): T[] {
  const first = all.filter((one) => wanted.has(one))
  const others = shuffled(
    random,
    all.filter((one) => !wanted.has(one)),
  )
  return shuffled(random, [...first, ...others].slice(0, count))
}

function shuffled<T>(random: SeededRandom, all: readonly T[]): T[] {
  const result = [...all]
  for (let last = result.length - 1; last > 0; last--) {
    const other = random.whole(last + 1)
    const moved = result[last]
    result[last] = result[other]
    result[other] = moved
  }
  return result
}
