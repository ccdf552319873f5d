import type { Answer, Backend, Clock, Policy } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { kindOf } from '../errors/shown.ts'
import { memoryBackend } from '../memory/new-memory-backend.ts'
import { processWide } from '../process/process-wide.ts'
import { claimName } from './name-claims.ts'

interface Registry {
  memory: Backend<Answer> | undefined
  /** Memory backends by clock: the readings of different clocks cannot be mixed. */
  memories: WeakMap<Clock, Backend<Answer>>
  scopes: number
}

const KEY = Symbol.for('sluice.registry@1')

function registry(): Registry {
  return processWide(KEY, () => ({ memory: undefined, memories: new WeakMap(), scopes: 0 }))
}

/** Returns the process-wide memory backend of a clock (64 MiB), created on first use. */
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

/** Returns a scope that no other limiter of this process uses. */
export function newPrivateScope(): string {
  return `#${++registry().scopes}`
}

export function parseScope(scope: unknown): string {
  if (typeof scope === 'string' && /^[^#].{0,127}$/s.test(scope)) return scope
  throw new SluiceError(
    'SLUICE_BAD_NAME',
    `scope: expected 1 to 128 characters that do not start with '#', received ${kindOf(scope)}`,
  )
}

/**
 * Returns the name of a count. Equal names on one backend share a count. `cells` identifies the layout of the cells:
 * `algorithm@version`.
 */
export function countName(scope: string, { name }: Pick<Policy, 'name'>, cells: string): string {
  return `${segment(scope)}/${name}/${cells}`
}

/** The limiter that claims a name, and whether sharing the count with other limiters is intended. */
export interface Claimant {
  readonly limiter: object
  readonly shared: boolean
  /** Whether the policies can change, so that their definition is not fixed. Default: false. */
  readonly canChange?: boolean
}

/** Definition of policies that can change, in claims: several limiters may change them at different times. */
const CHANGING = 'policies that can change'

/** Claims a policy name in a scope of a backend; see `claimName`. `variants`: its policies, one per plan. */
export function claimCount(backend: Backend, scope: string, variants: readonly Policy[], by: Claimant): () => void {
  const [{ name }] = variants
  return claimName(backend, {
    ...by,
    name,
    owner: `policy '${name}' in scope '${scope}'`,
    remedy: 'a name or a scope',
    id: `${segment(scope)}/${name}`,
    data: by.canChange ? CHANGING : variants.map((policy) => JSON.stringify(policy)).join(),
  })
}

// escaped, so that scope `a/b` with policy `c` differs from scope `a` with policy `b/c`
function segment(scope: string): string {
  return scope.replace(/[%/]/g, encodeURIComponent)
}
