/** Default names of limits. A limit with one of these names is treated as unnamed. */
export const DEFAULT_NAMES = {
  rateLimit: 'default',
  slowDown: 'slow-down',
  inflightLimit: 'inflight',
  limitConnections: 'connections',
} as const

const ALL: readonly string[] = Object.values(DEFAULT_NAMES)

export function isDefaultName(name: string): boolean {
  return ALL.includes(name)
}
