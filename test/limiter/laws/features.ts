/** Algorithms of a policy; `slices` and `burst` are the options of sliding windows and buckets. */
export const ALGORITHMS = [
  'fixed-window',
  'sliding-window',
  'slices',
  'sliding-log',
  'token-bucket',
  'gcra',
  'burst',
] as const

/** Storages of policies. Policies of one limiter have different ones. */
export const STORAGES = ['memory', 'server', 'leased', 'synced'] as const

/** Other options of a policy, and `plans`. */
const FACETS = [
  'holds',
  'booked',
  'ban',
  'shadow',
  'off',
  'overrides',
  'exempt',
  'limit function',
  'window function',
  'plans',
] as const

/** Callers of the limiter: code, or the adapter for Web-standard requests. */
const ENTRANCES = ['code', 'requests'] as const

export const RULES = ['local', 'allow', 'deny'] as const

/** What happens to a limiter. */
export const STEPS = [
  'too much',
  'peek',
  'charge',
  'refund',
  'hold',
  'extend',
  'settle',
  'release',
  'expire',
  'ban key',
  'report',
  'lift',
  'reset',
  'reload',
  'restart',
  'mode control',
  'limit control',
  'block',
  'failure',
  'late reply',
  'retry',
  'server clock back',
  'wall clock',
] as const

export type AlgorithmFeature = (typeof ALGORITHMS)[number]
export type Storage = (typeof STORAGES)[number]
export type Rule = (typeof RULES)[number]
export type StepKind = (typeof STEPS)[number] | 'take' | 'pass'
export type Feature =
  | AlgorithmFeature
  | Storage
  | (typeof FACETS)[number]
  | (typeof ENTRANCES)[number]
  | Rule
  | (typeof STEPS)[number]

export const FEATURES: readonly Feature[] = [...ALGORITHMS, ...STORAGES, ...FACETS, ...ENTRANCES, ...RULES, ...STEPS]

/** Features that no limiter has together: policies that change have no plans, and a limiter has one failure rule. */
export const EXCLUDED: readonly (readonly [Feature, Feature])[] = [
  ['plans', 'reload'],
  ['local', 'allow'],
  ['local', 'deny'],
  ['allow', 'deny'],
]
