import {
  type Answer,
  type Backend,
  badOption,
  type Clock,
  clockOf,
  integerFrom,
  optionalFunction,
  optionsOf,
  processWideMap,
} from '@sluice/limiter-core/backend'
import type { LimitNamespace } from './calls/limit-namespace.ts'
import { ShardNames } from './calls/shard-names.ts'
import { waitUntilOf } from './calls/wait-until.ts'
import { objectBackend } from './object-backend.ts'

export interface DurableObjectBackendOptions {
  /**
   * Start of the names of the objects, from 1 to 128 characters. The same in all Workers that share limits. Default:
   * `sluice`.
   */
  readonly prefix?: string | undefined
  /**
   * Number of objects over which keys are distributed, from 1 to 4,096. The same in all Workers that share limits. After a
   * change, most keys are counted by another object and start from zero. Default: 64.
   */
  readonly shards?: number | undefined
  /** Location hint for objects that do not exist yet, such as `weur`. Default: near the first caller. */
  readonly locationHint?: string | undefined
  /**
   * Whether a decision waits until its count is stored. If false, a crash of the object's machine loses the counts of
   * its last moments, and callers report them again. Default: false.
   */
  readonly durable?: boolean | undefined
  /**
   * Secret, at least 16 characters: all client keys are then stored as HMACs under this secret, and clients cannot choose
   * keys of one object. Default: keys of up to 64 printable ASCII characters are stored as they are, and other keys as
   * hashes.
   */
  readonly secret?: string | undefined
  /** Maximum number of charges per call, from 1 to 1,000. A request with more is sent alone. Default: 64. */
  readonly maxBatch?: number | undefined
  /**
   * Function `waitUntil` of the module `cloudflare:workers`, so that refunds and probes are finished after the response.
   * Default: the same function, which this package finds in Workers with the flag `nodejs_compat`; required in other
   * Workers.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Process clock, used for deadlines and time-outs; counts use the object's clock. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
  /**
   * Clock in ms that replaces the object's clock in tests. Stored counts are then kept ten minutes longer, and the object
   * does not check deadlines. Default: the object's clock.
   */
  readonly serverTime?: (() => number) | undefined
}

const OPTIONS = [
  'prefix',
  'shards',
  'locationHint',
  'durable',
  'secret',
  'maxBatch',
  'waitUntil',
  'clock',
  'serverTime',
] as const
const DEFAULT_SHARDS = 64
const MAX_SHARDS = 4_096
const DEFAULT_MAX_BATCH = 64
const MAX_MAX_BATCH = 1_000
const MAX_PREFIX = 128

const identities = processWideMap<LimitNamespace, Map<string, object>>(Symbol.for('sluice.objectIdentities@1'))

/**
 * Creates a backend that counts exactly in Durable Objects of Cloudflare: all isolates of all Workers with the binding
 * together admit as much as one process would. Each request needs one call of one object for all policies of its key.
 * Counts use the object's clock.
 *
 * `namespace` is the binding of a Durable Object class that the Worker exports:
 * `export { LimitObject } from '@sluice/cloudflare'`. Calls reject with a `DurableObjectFailure`.
 *
 * Throws `SLUICE_BAD_OPTION`.
 */
export function durableObjectBackend(
  namespace: LimitNamespace,
  options: DurableObjectBackendOptions = {},
): Backend<Promise<Answer>> {
  const given = optionsOf('durableObjectBackend', options, OPTIONS)
  const { prefix = 'sluice', shards = DEFAULT_SHARDS, locationHint, durable = false, secret } = given
  const { maxBatch = DEFAULT_MAX_BATCH, waitUntil, clock, serverTime } = given
  if (typeof namespace?.idFromName !== 'function' || typeof namespace.get !== 'function') {
    throw badOption('durableObjectBackend: namespace', namespace, 'the binding of a Durable Object class')
  }
  if (!(typeof prefix === 'string' && prefix.length >= 1 && prefix.length <= MAX_PREFIX)) {
    throw badOption('durableObjectBackend: prefix', prefix, `1 to ${MAX_PREFIX} characters`)
  }
  integerFrom('durableObjectBackend: shards', shards, 1, MAX_SHARDS)
  if (!(locationHint === undefined || typeof locationHint === 'string')) {
    throw badOption('durableObjectBackend: locationHint', locationHint, 'a string')
  }
  if (typeof durable !== 'boolean') throw badOption('durableObjectBackend: durable', durable, 'true or false')
  integerFrom('durableObjectBackend: maxBatch', maxBatch, 1, MAX_MAX_BATCH)
  optionalFunction('durableObjectBackend: serverTime', serverTime)
  const ids: object[] = []
  return objectBackend({
    identity: identityOf(namespace, `${shards} ${prefix}`),
    stubOf: (shard) => {
      ids[shard] ??= namespace.idFromName(`${prefix}:${shard}`)
      return namespace.get(ids[shard], locationHint === undefined ? {} : { locationHint })
    },
    waitUntil: waitUntilOf(waitUntil),
    names: new ShardNames(secret, shards),
    clock: clockOf(clock),
    serverTime,
    maxBatch,
    durable,
  })
}

/** Returns an object that identifies the counts: the same object for each call with equal arguments. */
function identityOf(namespace: LimitNamespace, counts: string): object {
  const known = identities().get(namespace) ?? new Map<string, object>()
  identities().set(namespace, known)
  const identity = known.get(counts) ?? {}
  known.set(counts, identity)
  return identity
}
