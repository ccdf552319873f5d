import cluster, { type Worker } from 'node:cluster'
import { infallible } from '../backend/infallible.ts'
import type { Answer, Backend, Clock, MaybePromise } from '../contracts.ts'
import { SourcedDecision } from '../decision/sourced-decision.ts'
import type { LeaseTerms } from '../leases/lease-ledger.ts'
import { LEASE_OPTIONS, type LeaseOptions, LeasingBackend, leaseTermsOf } from '../leases/leasing-backend.ts'
import type { TakeUnleased } from '../leases/unleased-takes.ts'
import { optionsOf } from '../options/options.ts'
import { clockOf } from '../time/clock.ts'
import { ClusterClient, type Port } from './cluster-client.ts'
import { ClusterServer } from './cluster-server.ts'
import { WorkerPort } from './worker-port.ts'

export interface ClusterBackendOptions extends LeaseOptions {
  /** Bound of what the primary keeps, in bytes; default: 64 MiB. Of several backends in a primary the first one decides. */
  readonly maxBytes?: number | undefined
  readonly clock?: Clock | undefined
}

/**
 * One count for all processes of a `node:cluster`, without a server: the primary counts, and workers lease from it.
 * Both call this, in any order; a primary that never does, such as that of pm2, lets its workers wait until their
 * deadline. All backends of a cluster made by this count in one place. In a process that has no cluster it counts as `memoryBackend` does.
 *
 * Never more units are spent than a policy promises, whatever process ends. What a process holds and does not spend is
 * not there for others until it is returned: at most `fraction` of what was left when it was leased, for each worker.
 * `remaining` of a worker is what it holds and what nobody held when it last asked; `retryAfterMs` of a leased policy
 * is a guess. Policies too small or too short to be leased are asked of the primary, exactly.
 */
export function clusterBackend(options: ClusterBackendOptions = {}): Backend {
  const { maxBytes, clock } = optionsOf('clusterBackend', options, [...LEASE_OPTIONS, 'maxBytes', 'clock'])
  const terms = leaseTermsOf('clusterBackend', options)
  if (cluster.isPrimary) return primaryBackend(terms, maxBytes, clockOf(clock))
  port ??= new WorkerPort(cluster.worker as Worker)
  return workerBackend(port, terms, clockOf(clock))
}

// one for all backends of a worker, so that they put one set of listeners on it
let port: WorkerPort | undefined

/** What a worker counts in: it leases over `port` from the `ClusterServer` at its other end, whatever carries the messages. */
export function workerBackend(port: Port, terms: LeaseTerms, clock: Clock): Backend {
  const line = new ClusterClient(port, clock)
  const takeUnleased: TakeUnleased = (charge, deadlineAt) =>
    // the primary knows what is on lease, and takes of the rest
    line.takeAll([charge], { deadlineAt }).then(({ verdicts: [verdict], takenAt, source }) => {
      const { policy, remaining, retryAfterMs, resetAfterMs, availableAfterMs } = verdict
      return new SourcedDecision(source, policy, remaining, retryAfterMs, resetAfterMs, takenAt, availableAfterMs)
    })
  return new LeasingBackend({ name: 'cluster', exact: line, ledger: line, takeUnleased, terms, clock })
}

/** What the primary counts in, and how many backends hold it. */
interface Home {
  readonly desk: ClusterServer
  readonly stop: () => void
  holders: number
}

const KEY = Symbol.for('sluice.cluster@1')

// one for every copy of the package: each message has one answer
const homes = globalThis as { [KEY]?: Home | undefined }

function primaryBackend(terms: LeaseTerms, maxBytes: number | undefined, clock: Clock): Backend<Answer> {
  homes[KEY] ??= openHome(new ClusterServer(terms, maxBytes, clock))
  const home = homes[KEY]
  const { ledger } = home.desk
  home.holders++
  let open = true
  return infallible({
    name: 'cluster',
    synchronous: true,
    open: (compiled, name) => ledger.open(compiled, name),
    takeAll: (charges, moment) => ledger.takeAll(charges, moment),
    peekAll: (charges, moment) => ledger.peekAll(charges, moment),
    adjustAll: (charges, takenAt, moment) => ledger.adjustAll(charges, takenAt, moment),
    resetAll: (keys) => ledger.resetAll(keys),
    observe: (observer) => ledger.observe(observer),
    close(): MaybePromise<void> {
      if (open && --home.holders === 0) home.stop()
      open = false
    },
  })
}

function openHome(desk: ClusterServer): Home {
  const answer = (worker: Worker, message: unknown): void => {
    const reply = desk.answer(message)
    // one that has ended meanwhile needs no answer
    if (reply && worker.isConnected()) worker.process.send?.(reply, undefined, undefined, () => {})
  }
  cluster.on('message', answer)
  const stop = (): void => {
    cluster.off('message', answer)
    desk.close()
    homes[KEY] = undefined
  }
  return { desk, stop, holders: 0 }
}
