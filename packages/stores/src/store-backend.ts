import { EntryNames, RemoteBackend, type RemoteBackendDeps, type RowStore, ServerState } from '@sluice/fleet/backend'
import {
  type Answer,
  type Backend,
  badOption,
  type Clock,
  clockOf,
  integerFrom,
  Observers,
  optionalFunction,
  optionsOf,
  processWideMap,
} from '@sluice/limiter-core/backend'
import { LedCalls } from './led-calls.ts'
import { OneRowBackend } from './one-row-backend.ts'
import { CheckedStore } from './requests/checked-store.ts'
import { StoreCalls, type StoreCallsOptions } from './requests/store-calls.ts'
import { StoreClock } from './requests/store-clock.ts'

export interface StoreBackendOptions {
  /** Name of the backend in warnings and metrics, from 1 to 64 characters. Default: `store`. */
  readonly name?: string | undefined
  /**
   * Start of all keys of the store, from 1 to 64 printable ASCII characters. The same in all processes that share
   * limits. Default: `sluice`.
   */
  readonly prefix?: string | undefined
  /**
   * Secret, at least 16 characters: all client keys are then stored as HMACs under this secret. Default: keys of up to 64
   * printable ASCII characters are stored as they are, and other keys as hashes.
   */
  readonly secret?: string | undefined
  /** Maximum number of charges that are decided together, from 1 to 10,000. Default: 1,000. */
  readonly maxBatch?: number | undefined
  /** Process clock, used for deadlines, and for counts if the store has no clock. Default: the system clock. */
  readonly clock?: Partial<Clock> | undefined
  /**
   * Clock in ms that replaces the store's clock in tests. Rows are then kept ten minutes longer, and refused writes are
   * repeated without a pause. Default: the store's clock.
   */
  readonly serverTime?: (() => number) | undefined
}

const OPTIONS = ['name', 'prefix', 'secret', 'maxBatch', 'clock', 'serverTime'] as const
const DEFAULT_MAX_BATCH = 1_000
const MAX_MAX_BATCH = 10_000
const DEFAULT_MAX_ROWS = 100
const NAME = /^[ -~]{1,64}$/
/** Time in ms that rows are kept longer if a test passes the time. */
const SIMULATED_EXTRA_MS = 600_000

const identities = processWideMap<RowStore, Map<string, object>>(Symbol.for('sluice.storeIdentities@1'))

/**
 * Creates a backend that counts exactly in a database that can conditionally write versioned rows: all processes together
 * admit as much as one process would. Requests of a process for the same keys are decided together, with one read and one
 * write.
 *
 * The caller closes the client of the store. Calls reject with a `StoreFailure`.
 *
 * Throws `SLUICE_BAD_OPTION`.
 */
export function storeBackend(store: RowStore, options: StoreBackendOptions = {}): Backend<Promise<Answer>> {
  const given = optionsOf('storeBackend', options, OPTIONS)
  const { name = 'store', prefix = 'sluice', secret, maxBatch = DEFAULT_MAX_BATCH, serverTime } = given
  const { maxRows = DEFAULT_MAX_ROWS } = checkedStore(store)
  checkName('name', name)
  checkName('prefix', prefix)
  integerFrom('storeBackend: maxBatch', maxBatch, 1, MAX_MAX_BATCH)
  optionalFunction('storeBackend: serverTime', serverTime)
  const clock = clockOf(given.clock)
  const checked = new CheckedStore(store)
  const server = new ServerState(clock, serverTime)
  const observers = new Observers()
  const callOptions: StoreCallsOptions = {
    store: checked,
    server,
    time: new StoreClock(checked, server, clock),
    clock,
    prefix: `${prefix}:`,
    limits: { maxBatch, maxRows },
    extraTtlMs: serverTime ? SIMULATED_EXTRA_MS : 0,
    // a test moves its clock only when all calls are answered
    random: serverTime ? () => 0 : Math.random,
    observers,
    source: name,
  }
  const { keepRunning } = store
  const calls = keepRunning
    ? new LedCalls(callOptions, (work) => keepRunning.call(store, work))
    : new StoreCalls(callOptions)
  const names = new EntryNames(secret, 'storeBackend')
  const deps: RemoteBackendDeps = {
    name,
    identity: identityOf(store, prefix),
    clock,
    observers,
    nameOf: (counted) => names.nameOf(counted),
    send: (request) => calls.add(request),
    interrupted: (listener) => server.listen(listener),
    mayHaveLost: (_, ageMs) => server.mayHaveLost(ageMs),
    close: () => server.close(),
  }
  return maxRows === 1 ? new OneRowBackend(deps) : new RemoteBackend(deps)
}

function checkedStore(store: RowStore): RowStore {
  if (typeof store?.read !== 'function' || typeof store.write !== 'function') {
    throw badOption('storeBackend: store', store, 'a RowStore with read and write')
  }
  optionalFunction('storeBackend: store.now', store.now)
  optionalFunction('storeBackend: store.keepRunning', store.keepRunning)
  if (store.maxRows !== undefined) integerFrom('storeBackend: store.maxRows', store.maxRows, 1)
  return store
}

function checkName(option: 'name' | 'prefix', value: unknown): void {
  if (typeof value === 'string' && NAME.test(value)) return
  throw badOption(`storeBackend: ${option}`, value, '1 to 64 printable ASCII characters')
}

/** Returns an object that identifies the counts: the same object for each call with equal arguments. */
function identityOf(store: RowStore, prefix: string): object {
  const known = identities().get(store) ?? new Map<string, object>()
  identities().set(store, known)
  const identity = known.get(prefix) ?? {}
  known.set(prefix, identity)
  return identity
}
