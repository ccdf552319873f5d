import cluster, { type Worker } from 'node:cluster'
import {
  type Answer,
  type Backend,
  type Clock,
  clockOf,
  type MaybePromise,
  markInfallible,
  optionsOf,
  SoleDecision,
} from '@sluice/limiter-core/backend'
import type { LeaseTerms } from '../leases/lease-ledger.ts'
import { LEASE_OPTIONS, type LeaseOptions, LeasingBackend, leaseTermsOf } from '../leases/leasing-backend.ts'
import type { TakeUnleased } from '../leases/unleased-takes.ts'
import { ClusterClient, type Port } from './cluster-client.ts'
import { ClusterServer } from './cluster-server.ts'
import { WorkerPort } from './worker-port.ts'

export interface ClusterBackendOptions extends LeaseOptions {
  /**
   * Memory in bytes that the primary may use for counts. If the primary creates several backends, the value of the
   * first one is used. Default: 64 MiB.
   */
  readonly maxBytes?: number | undefined
  readonly clock?: Clock | undefined
}

/**
 * Creates a backend that is shared by all processes of a `node:cluster`, without a server: the primary counts, and
 * workers lease units from it. Call this function in the primary and in every worker, in any order. If the primary
 * never calls it (as with pm2), the calls of workers fail at their deadline. All backends of a cluster that this
 * function creates share their counts. Outside of a cluster, the backend counts like `memoryBackend`.
 *
 * Never admits more units than a policy guarantees, even if processes exit. Units that a worker has leased and not
 * spent are unavailable to the other workers until they are returned: per worker at most `fraction` of the remaining
 * units. In a worker, `remaining` is the sum of the units that the worker holds and the units that were free at its
 * last request, and `retryAfterMs` of a leased policy is an estimate. Policies that are too small or too short to be
 * leased are counted exactly, by the primary.
 */
export function clusterBackend(options: ClusterBackendOptions = {}): Backend {
  const { maxBytes, clock } = optionsOf('clusterBackend', options, [...LEASE_OPTIONS, 'maxBytes', 'clock'])
  const terms = leaseTermsOf('clusterBackend', options)
  if (cluster.isPrimary) return primaryBackend(terms, maxBytes, clockOf(clock))
  port ??= new WorkerPort(cluster.worker as Worker)
  return workerBackend(port, terms, clockOf(clock))
}

// shared by all backends of a worker, so that there is only one set of listeners
let port: WorkerPort | undefined

/** Creates the backend of a worker, which leases units from the `ClusterServer` at the other end of `port`. */
export function workerBackend(port: Port, terms: LeaseTerms, clock: Clock): Backend {
  const client = new ClusterClient(port, clock)
  const takeUnleased: TakeUnleased = (charge, deadlineAt) =>
    // the primary takes only units that are not leased
    client.takeAll([charge], { deadlineAt }).then(({ verdicts: [verdict], takenAt, source }) => {
      const { policy, remaining, retryAfterMs, resetAfterMs, availableAfterMs } = verdict
      return new SoleDecision(source, policy, remaining, retryAfterMs, resetAfterMs, takenAt, availableAfterMs)
    })
  return new LeasingBackend({ name: 'cluster', exact: client, ledger: client, takeUnleased, terms, clock })
}

/** The server of a primary, and the number of its backends that are open. */
interface Primary {
  readonly server: ClusterServer
  readonly stop: () => void
  backends: number
}

const KEY = Symbol.for('sluice.cluster@1')

// shared by all copies of the package, because each message must be answered once
const shared = globalThis as { [KEY]?: Primary | undefined }

function primaryBackend(terms: LeaseTerms, maxBytes: number | undefined, clock: Clock): Backend<Answer> {
  shared[KEY] ??= openPrimary(new ClusterServer(terms, maxBytes, clock))
  const primary = shared[KEY]
  const { ledger } = primary.server
  primary.backends++
  let open = true
  return markInfallible({
    name: 'cluster',
    synchronous: true,
    keepsHolds: true,
    open: (compiled, name) => ledger.open(compiled, name),
    takeAll: (charges, moment) => ledger.takeAll(charges, moment),
    peekAll: (charges, moment) => ledger.peekAll(charges, moment),
    adjustAll: (charges, takenAt, moment) => ledger.adjustAll(charges, takenAt, moment),
    resetAll: (keys) => ledger.resetAll(keys),
    observe: (observer) => ledger.observe(observer),
    close(): MaybePromise<void> {
      if (open && --primary.backends === 0) primary.stop()
      open = false
    },
  })
}

function openPrimary(server: ClusterServer): Primary {
  const answer = (worker: Worker, message: unknown): void => {
    const reply = server.handle(message)
    // a worker that has exited needs no reply
    if (reply && worker.isConnected()) worker.process.send?.(reply, undefined, undefined, () => {})
  }
  cluster.on('message', answer)
  const stop = (): void => {
    cluster.off('message', answer)
    server.close()
    shared[KEY] = undefined
  }
  return { server, stop, backends: 0 }
}
