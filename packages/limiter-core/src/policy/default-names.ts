/** Names of limits whose user gives none. Two of one such name are two that nobody named. */
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
