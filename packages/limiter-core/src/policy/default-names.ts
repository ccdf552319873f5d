/** Default names of limits. A limit with one of these names is treated as unnamed. */
export const DEFAULT_NAMES = {
  rateLimit: 'default',
  slowDown: 'slow-down',
  inflightLimit: 'inflight',
  limitConnections: 'connections',
  shed: 'shed',
} as const

export function isDefaultName(name: string): boolean {
  return Object.values<string>(DEFAULT_NAMES).includes(name)
}
