import { compiledOf, type SentPolicy } from '@sluice/fleet/backend'
import {
  algorithms,
  type CompiledPolicy,
  drainPerMs,
  type Policy,
  type PolicyVariant,
} from '@sluice/limiter-core/backend'

const ROLES: readonly unknown[] = ['own', 'larger', 'charged']

/** Compiles a received policy. Throws if it is not a policy whose cells are always finite numbers. */
export function checkedPolicy(sent: SentPolicy): CompiledPolicy {
  const { policy, room, variants } = sent
  const isValid = variants === undefined ? isPolicy(policy, room) : isListOfVariants(variants)
  if (!isValid) throw new TypeError('policies: expected the data of a policy, received something else')
  const compiled = compiledOf(sent)
  if (compiled.variants) checkPlaces(compiled.variants)
  return compiled
}

function isListOfVariants(variants: unknown): boolean {
  if (!Array.isArray(variants)) return false
  const isVariant = ({ policy, room, role, perMs, ceiling }: Record<string, unknown>): boolean =>
    isPolicy(policy, room) &&
    ROLES.includes(role) &&
    perMs === drainPerMs(policy as Policy) &&
    Number.isFinite(ceiling) &&
    (ceiling as number) > 0
  return variants.every(isVariant) && variants.filter(({ role }) => role === 'own').length === 1
}

function isPolicy(value: unknown, room: unknown): boolean {
  const { algorithm, limit, windowMs, burst = limit, slices = 1, calendar } = value as Record<string, unknown>
  const isKnown = typeof algorithm === 'string' && Object.hasOwn(algorithms, algorithm) && calendar === undefined
  const isCounted = [limit, windowMs, burst, slices].every(isPositive)
  // a log without room for its limit would drop units
  return isKnown && isCounted && (room === undefined || (isPositive(room) && room >= (limit as number)))
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= Number.MAX_SAFE_INTEGER
}

/** Throws unless the cells of each variant begin after those of the variant before it. */
function checkPlaces(variants: readonly PolicyVariant[]): void {
  let next = 0
  for (const { at, compiled, perMs } of variants) {
    if (at !== next) throw new TypeError(`policies: at: expected ${next}, received another place`)
    next += compiled.cells + (perMs > 0 ? 1 : 0)
  }
}
