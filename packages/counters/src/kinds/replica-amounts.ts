import { kindOf, SluiceError, shown } from '@sluice/limiter-core/backend'

const MOST_BYTES = 256

/** Pairs of a replica and what it counted, 0 to 2^53 - 1. */
export type ReplicaPairs = readonly (readonly [replica: string, amount: number])[]

/** What each replica counted, which only ever grows: two states become one by the larger amount of each replica. */
export class ReplicaAmounts {
  readonly #amounts = new Map<string, number>()

  of(replica: string): number {
    return this.#amounts.get(replica) ?? 0
  }

  /** Every replica that counted. */
  get replicas(): Iterable<string> {
    return this.#amounts.keys()
  }

  get values(): Iterable<number> {
    return this.#amounts.values()
  }

  /** Throws `SLUICE_COUNTER_RANGE` where the replica would have counted more than 2^53 - 1. */
  add(replica: string, amount: number): void {
    const sum = this.of(replica) + amount
    if (!Number.isSafeInteger(sum)) {
      const expected = 'no more than 2^53 - 1 of one replica and one sign'
      throw new SluiceError('SLUICE_COUNTER_RANGE', `increment: expected ${expected}, received ${shown(amount)} more`)
    }
    if (amount > 0) this.#amounts.set(replica, sum)
  }

  merge(pairs: ReplicaPairs): void {
    for (const [replica, amount] of pairs) if (amount > this.of(replica)) this.#amounts.set(replica, amount)
  }

  /** In the order of the replicas, so that equal states are equal texts. */
  pairs(): ReplicaPairs {
    return [...this.#amounts].sort(([one], [other]) => (one < other ? -1 : 1))
  }
}

/** Throws `SLUICE_BAD_NAME` unless `replica` is a text of 1 to 256 bytes. */
export function checkReplica(replica: unknown): asserts replica is string {
  if (isReplica(replica)) return
  const expected = `a text of 1 to ${MOST_BYTES} bytes, another one for each start of a process`
  throw new SluiceError('SLUICE_BAD_NAME', `replica: expected ${expected}, received ${kindOf(replica)}`)
}

/** Throws `SLUICE_BAD_MESSAGE` unless `pairs` are what `ReplicaAmounts.pairs` answers. */
export function checkedPairs(pairs: unknown): ReplicaPairs {
  if (!Array.isArray(pairs)) throw badState(kindOf(pairs))
  const seen = new Set<string>()
  for (const pair of pairs as readonly unknown[]) {
    if (!Array.isArray(pair) || pair.length !== 2) throw badState(kindOf(pair))
    const [replica, amount] = pair as readonly unknown[]
    if (!isReplica(replica)) throw badState(`a replica that is ${kindOf(replica)}`)
    if (!Number.isSafeInteger(amount) || Number(amount) < 0) throw badState(`an amount that is ${shown(amount)}`)
    if (seen.has(replica)) throw badState('a replica twice')
    seen.add(replica)
  }
  return pairs as unknown as ReplicaPairs
}

/** The state itself: of a counter what its `toJSON` answers. Throws `SLUICE_BAD_MESSAGE` unless it is one of `kind`. */
export function stateOf<Kind extends string>(kind: Kind, given: unknown): { readonly kind: Kind } {
  const { toJSON } = Object(given) as { readonly toJSON?: unknown }
  const state: unknown = typeof toJSON === 'function' ? toJSON.call(given) : given
  if (typeof state !== 'object' || state === null) throw badState(kindOf(state))
  if ((state as { readonly kind?: unknown }).kind !== kind) throw badState('another kind', kind)
  return state as { readonly kind: Kind }
}

function badState(got: string, expected = 'what toJSON() of a counter answers'): SluiceError {
  return new SluiceError('SLUICE_BAD_MESSAGE', `state: expected ${expected}, received ${got}`)
}

function isReplica(replica: unknown): replica is string {
  return typeof replica === 'string' && replica !== '' && Buffer.byteLength(replica) <= MOST_BYTES
}
