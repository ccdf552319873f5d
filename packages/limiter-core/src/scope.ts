import type { Answer, Backend, Clock, Policy } from './contracts.ts'
import { SluiceError } from './errors.ts'
import { memoryBackend } from './memory/memory-backend.ts'
import { kindOf } from './shown.ts'

/** The data under which a name is counted, and how many limiters hold it. */
interface Claim {
  readonly data: string
  holders: number
}

interface Registry {
  memory: Backend<Answer> | undefined
  /** By clock: no two clocks meet in one memory. */
  memories: WeakMap<Clock, Backend<Answer>>
  scopes: number
  claims: WeakMap<Backend, Map<string, Claim>>
}

const KEY = Symbol.for('sluice.registry@1')

// shared by the ESM and the CommonJS copy: both must see the same claims
function registry(): Registry {
  const home = globalThis as { [KEY]?: Registry }
  home[KEY] ??= { memory: undefined, memories: new WeakMap(), scopes: 0, claims: new WeakMap() }
  return home[KEY]
}

/** The process-wide memory backend of a clock, 64 MiB, made when first asked for. */
export function defaultBackend(clock?: Clock): Backend<Answer> {
  const shared = registry()
  if (clock) {
    const memory = shared.memories.get(clock) ?? memoryBackend({ clock })
    shared.memories.set(clock, memory)
    return memory
  }
  shared.memory ??= memoryBackend()
  return shared.memory
}

/** A scope that no other limiter of this process has. */
export function ownScope(): string {
  return `#${++registry().scopes}`
}

export function parseScope(scope: unknown): string {
  if (typeof scope === 'string' && /^[^#].{0,127}$/s.test(scope)) return scope
  throw new SluiceError(
    'SLUICE_BAD_NAME',
    `scope: got ${kindOf(scope)}, expected 1 to 128 characters that do not start with '#'`,
  )
}

/** The name of a count: equal names on one backend are one count. `cells` says what its cells are: `algorithm@version`. */
export function countName(scope: string, policy: Policy, cells: string): string {
  return `${segment(scope)}/${policy.name}/${cells}`
}

/**
 * Claims a policy name within a scope of a backend. The same data may be claimed again and is shared then; other data
 * throws `SLUICE_DUPLICATE_POLICY`. `variants` are the policies of that name, one for each plan. Returns a function
 * that gives the claim back.
 */
export function claimCount(backend: Backend, scope: string, variants: readonly Policy[]): () => void {
  const { claims } = registry()
  const taken = claims.get(backend) ?? new Map<string, Claim>()
  claims.set(backend, taken)
  const [{ name }] = variants
  const id = `${segment(scope)}/${name}`
  const data = variants.map((policy) => JSON.stringify(policy)).join()
  const claim = taken.get(id) ?? { data, holders: 0 }
  if (claim.data !== data) {
    throw new SluiceError(
      'SLUICE_DUPLICATE_POLICY',
      `policy '${name}' in scope '${scope}': got ${data}, expected what this backend counts already: ${claim.data}; ` +
        'give the limiter a scope of its own',
    )
  }
  claim.holders++
  taken.set(id, claim)
  let held = true
  return () => {
    // a policy that stands in several plans is given back by each of them
    if (held && --claim.holders === 0) taken.delete(id)
    held = false
  }
}

// scope `a/b` with policy `c` and scope `a` with policy `b/c` are two counts
function segment(scope: string): string {
  return scope.replace(/[%/]/g, encodeURIComponent)
}
