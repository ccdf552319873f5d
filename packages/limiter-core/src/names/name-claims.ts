import type { Backend } from '../contracts.ts'
import { SluiceError } from '../errors/errors.ts'
import { warn } from '../errors/warn-once.ts'
import { isDefaultName } from '../policy/default-names.ts'
import { processWide } from '../process/process-wide.ts'

/** The claim of one limiter or cap to a name on a backend. */
export interface NameClaim {
  readonly name: string
  /** Subject of messages, such as `policy 'api' in scope 'default'`. */
  readonly owner: string
  /** Options that separate the counts, for messages, such as `a name or a scope`. */
  readonly remedy: string
  /** Identifies the count: equal ids on one backend share a count. */
  readonly id: string
  /** Definition of the policies or of the cap. All claims of one count must have the same definition. */
  readonly data: string
  /** Identifies the limiter: the same object in all its claims. It does not refer to the limiter, which may be garbage. */
  readonly limiter: object
  /** Whether sharing the count with other limiters is intended. */
  readonly shared: boolean
}

/** A claim that was not released. */
interface Holder {
  /** The object that holds the name: a limiter, or the backend of several limiters. */
  readonly owner: object
  /** Returns undefined if the limiter was garbage-collected without being closed, for example after a hot reload. */
  readonly release: { deref(): Release | undefined }
}

/** Kept by the limiter only. A job keeps what it refers to weakly until it ends, so that this has no fields. */
class Release {
  of(holder: Holder, holders: Set<Holder>): boolean {
    return holders.delete(holder) && holders.size === 0
  }
}

interface Claimed {
  readonly data: string
  readonly holders: Set<Holder>
  warned: boolean
}

/** Claimed names by id, for each backend and for each backend identity. */
type ClaimedNames = WeakMap<object, Map<string, Claimed>>

const KEY = Symbol.for('sluice.claims@1')

/**
 * Claims a name on a backend. Limiters with equal names and definitions share a count, with a warning unless `shared`
 * is set. Throws `SLUICE_UNNAMED_LIMITER` for a second limiter without a name, and `SLUICE_DUPLICATE_POLICY` for a
 * different definition, because one count cannot have two limits. If the name is claimed on another backend with the
 * same identity, definitions may differ and only a warning is printed: the backends may belong to two releases. Returns
 * a function that releases the name. A limiter keeps it: its garbage collection releases the name too.
 */
export function claimName(backend: Pick<Backend, 'identity'>, claim: NameClaim): () => void {
  const names = processWide<ClaimedNames>(KEY, () => new WeakMap())
  const release = hold(names, backend, claim.limiter, claim, checkConflict)
  if (!backend.identity) return release
  const releaseOther = hold(names, backend.identity, backend, claim, warnIfShared)
  return () => {
    release()
    releaseOther()
  }
}

/**
 * Adds a claim of `owner`. First calls `check`, which may throw; `others` is whether other owners have the name.
 * Returns a function that removes the claim.
 */
function hold(
  names: ClaimedNames,
  place: object,
  owner: object,
  claim: NameClaim,
  check: (claimed: Claimed, claim: NameClaim, others: boolean) => void,
): () => void {
  const taken = names.get(place) ?? new Map<string, Claimed>()
  names.set(place, taken)
  const { id, data } = claim
  const known = taken.get(id)
  for (const holder of known?.holders ?? []) if (!holder.release.deref()) known?.holders.delete(holder)
  const claimed = known?.holders.size ? known : { data, holders: new Set<Holder>(), warned: false }
  const { holders } = claimed
  check(claimed, claim, holders.size > 0 && ![...holders].some((holder) => holder.owner === owner))
  taken.set(id, claimed)
  const release = new Release()
  const holder = { owner, release: typeof WeakRef === 'undefined' ? { deref: () => release } : new WeakRef(release) }
  holders.add(holder)
  return () => {
    if (release.of(holder, holders) && taken.get(id) === claimed) taken.delete(id)
  }
}

function checkConflict(claimed: Claimed, claim: NameClaim, others: boolean): void {
  const { name, owner, remedy, data, shared } = claim
  if (claimed.data !== data) {
    throw new SluiceError(
      'SLUICE_DUPLICATE_POLICY',
      `${owner}: expected the definition in use on this backend, ${claimed.data}, received ${data}; ` +
        `to count separately, give this limiter ${remedy} of its own`,
    )
  }
  if (others && !shared && isDefaultName(name)) {
    throw new SluiceError(
      'SLUICE_UNNAMED_LIMITER',
      `${owner}: expected name: '…' to count separately, or shared: true to share one count, ` +
        'received a second limiter without a name on the same backend',
    )
  }
  warnIfShared(claimed, claim, others)
}

function warnIfShared(claimed: Claimed, { owner, remedy, shared }: NameClaim, others: boolean): void {
  if (!others || shared || claimed.warned) return
  claimed.warned = true
  const problem = 'a second limiter uses this name, so that both spend the same limit'
  warn('SLUICE_SHARED_COUNT', `${owner}: ${problem}; give it ${remedy} of its own, or set shared: true`)
}
