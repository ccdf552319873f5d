import { kindOf, SluiceError, shown } from '@sluice/limiter-core/backend'

const MAX_BYTES = 256

/** Replicas and their counts, 0 to 2^53 - 1. */
export type ReplicaPairs = readonly (readonly [replica: string, amount: number])[]

/** Counts by replica, which only grow: a merge keeps the larger count of each replica. */
export class ReplicaAmounts {
  readonly #amounts = new Map<string, number>()

  of(replica: string): number {
    return this.#amounts.get(replica) ?? 0
  }

  get replicas(): Iterable<string> {
    return this.#amounts.keys()
  }

  get values(): Iterable<number> {
    return this.#amounts.values()
  }

  /** Throws `SLUICE_COUNTER_RANGE` if the count of the replica would exceed 2^53 - 1. */
  add(replica: string, amount: number): void {
    const sum = this.of(replica) + amount
    if (!Number.isSafeInteger(sum)) {
      const expected = 'a total of at most 2^53 - 1 units per replica and sign'
      throw new SluiceError('SLUICE_COUNTER_RANGE', `increment: expected ${expected}, received ${shown(amount)} more`)
    }
    if (amount > 0) this.#amounts.set(replica, sum)
  }

  merge(pairs: ReplicaPairs): void {
    for (const [replica, amount] of pairs) if (amount > this.of(replica)) this.#amounts.set(replica, amount)
  }

  /** Returns the counts sorted by replica, so that equal states have equal JSON. */
  pairs(): ReplicaPairs {
    return [...this.#amounts].sort(([one], [other]) => (one < other ? -1 : 1))
  }
}

/** Throws `SLUICE_BAD_NAME` unless `replica` is a string of 1 to 256 bytes. */
export function checkReplica(replica: unknown): asserts replica is string {
  if (isReplica(replica)) return
  const expected = `a string of 1 to ${MAX_BYTES} bytes that is new for each process start`
  throw new SluiceError('SLUICE_BAD_NAME', `replica: expected ${expected}, received ${kindOf(replica)}`)
}

/** Throws `SLUICE_BAD_MESSAGE` unless `pairs` has the shape that `ReplicaAmounts.pairs` returns. */
export function checkedPairs(pairs: unknown): ReplicaPairs {
  if (!Array.isArray(pairs)) throw badState(kindOf(pairs))
  const seen = new Set<string>()
  for (const pair of pairs as readonly unknown[]) {
    if (!Array.isArray(pair) || pair.length !== 2) throw badState(kindOf(pair))
    const [replica, amount] = pair as readonly unknown[]
    if (!isReplica(replica)) throw badState(`a replica that is ${kindOf(replica)}`)
    if (!Number.isSafeInteger(amount) || Number(amount) < 0) throw badState(`an amount that is ${shown(amount)}`)
    if (seen.has(replica)) throw badState('a duplicate replica')
    seen.add(replica)
  }
  return pairs as unknown as ReplicaPairs
}

/**
 * Returns the JSON state of a counter, or `given` if it is already a state. Throws `SLUICE_BAD_MESSAGE` unless it is of
 * `kind`.
 */
export function stateOf<Kind extends string>(kind: Kind, given: unknown): { readonly kind: Kind } {
  const { toJSON } = Object(given) as { readonly toJSON?: unknown }
  const state: unknown = typeof toJSON === 'function' ? toJSON.call(given) : given
  if (typeof state !== 'object' || state === null) throw badState(kindOf(state))
  if ((state as { readonly kind?: unknown }).kind !== kind) throw badState('a state of another kind', `a ${kind}`)
  return state as { readonly kind: Kind }
}

function badState(received: string, expected = 'a state returned by toJSON()'): SluiceError {
  return new SluiceError('SLUICE_BAD_MESSAGE', `state: expected ${expected}, received ${received}`)
}

function isReplica(replica: unknown): replica is string {
  return typeof replica === 'string' && replica !== '' && Buffer.byteLength(replica) <= MAX_BYTES
}
