import { SluiceError } from '../errors/errors.ts'
import { warn } from '../errors/warn-once.ts'
import { isDefaultName } from '../policy/default-names.ts'
import { processWide } from '../process/process-wide.ts'

/** What one limiter counts under a name. */
export interface NameClaim {
  readonly name: string
  /** What has the name, for messages: `policy 'api' in scope 'default'`. */
  readonly owner: string
  /** What a user gives to count apart: `a name or a scope`. */
  readonly remedy: string
  /** Of equal ones on one backend there is one count. */
  readonly id: string
  /** What is promised under the name. */
  readonly data: string
  /** Equal for all claims of one limiter. */
  readonly limiter: object
  /** Whether the limiter says that it counts with others. */
  readonly shared: boolean
}

/** Where a name is claimed. */
interface CountPlace {
  /** Equal for backends that count in one place. */
  readonly identity?: object | undefined
}

interface Claimed {
  readonly data: string
  /** How often each claimed it. */
  readonly holders: Map<object, number>
  warned: boolean
}

/** Names by what counts under them: a backend, or what several of them have in common. */
type ClaimedNames = WeakMap<object, Map<string, Claimed>>

const KEY = Symbol.for('sluice.claims@1')

/**
 * Claims a name. Limiters with equal names and data share a count, about which one is warned unless it is `shared`; two
 * that nobody named are refused (`SLUICE_UNNAMED_LIMITER`), as is other data (`SLUICE_DUPLICATE_POLICY`), since two limits
 * cannot hold for one count. Of two backends that count in one place one is warned, as they may be those of two
 * releases. Returns a function that gives the name back.
 */
export function claimName(backend: CountPlace, claim: NameClaim): () => void {
  const names = processWide<ClaimedNames>(KEY, () => new WeakMap())
  const release = hold(names, backend, claim.limiter, claim, refuseMeeting)
  if (!backend.identity) return release
  const releaseOther = hold(names, backend.identity, backend, claim, warnOfMeeting)
  return () => {
    release()
    releaseOther()
  }
}

/** `meet` is told of a name that others hold. */
function hold(
  names: ClaimedNames,
  place: object,
  holder: object,
  claim: NameClaim,
  meet: (claimed: Claimed, claim: NameClaim, others: boolean) => void,
): () => void {
  const taken = names.get(place) ?? new Map<string, Claimed>()
  names.set(place, taken)
  const { id, data } = claim
  const claimed = taken.get(id) ?? { data, holders: new Map<object, number>(), warned: false }
  const { holders } = claimed
  meet(claimed, claim, holders.size > 0 && !holders.has(holder))
  taken.set(id, claimed)
  holders.set(holder, (holders.get(holder) ?? 0) + 1)
  let held = true
  return () => {
    if (!held) return
    held = false
    const left = (holders.get(holder) as number) - 1
    if (left > 0) holders.set(holder, left)
    else holders.delete(holder)
    if (holders.size === 0) taken.delete(id)
  }
}

function refuseMeeting(claimed: Claimed, claim: NameClaim, others: boolean): void {
  const { name, owner, remedy, data, shared } = claim
  if (claimed.data !== data) {
    throw new SluiceError(
      'SLUICE_DUPLICATE_POLICY',
      `${owner}: expected what this backend counts already: ${claimed.data}; give the limiter ${remedy} of its own, received ${data}`,
    )
  }
  if (others && !shared && isDefaultName(name)) {
    throw new SluiceError(
      'SLUICE_UNNAMED_LIMITER',
      `${owner}: expected name: '…', which counts it apart, , received a second limiter without a name on one backend` +
        'or shared: true, which counts both together',
    )
  }
  warnOfMeeting(claimed, claim, others)
}

function warnOfMeeting(claimed: Claimed, { owner, remedy, shared }: NameClaim, others: boolean): void {
  if (!others || shared || claimed.warned) return
  claimed.warned = true
  const both = 'a second limiter counts under this name, and both spend one limit'
  warn('SLUICE_SHARED_COUNT', `${owner}: ${both}: give it ${remedy} of its own, or say shared: true`)
}
