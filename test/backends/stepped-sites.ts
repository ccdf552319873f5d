import { workerBackend } from '@sluice/fleet'
import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/fleet/sync'
import { createGossip, type GossipNode, gossipBackend } from '@sluice/gossip'
import { type AlgorithmName, type Backend, memoryBackend } from '@sluice/limiter-core'
import { leasedBackend, redisBackend, scriptRunner, syncedBackend } from '@sluice/redis'
import type { FakeClock, SeededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { PairedPrimary } from '../cluster/paired.ts'
import { FlakyBackend, serverError } from '../failover/flaky-backend.ts'
import { AwaitedRunner } from './awaited-runner.ts'
import type { SteppedClock } from './stepped-clock.ts'

/** What a site is built from. Each process has its own wall clock; all have one monotonic clock. */
interface SiteParts {
  readonly shared: FakeClock
  readonly clocks: readonly SteppedClock[]
  readonly random: SeededRandom
  readonly redis: Redis
  readonly prefix: string
}

/** Two processes on a backend. */
interface Site {
  readonly backends: readonly Backend[]
  /** Called at the beginning of each hour. */
  readonly onHour?: (hour: number) => void
  /** Resolves when no reply is under way. Time then passes in steps that are shorter than the deadline of a call. */
  readonly idle?: () => Promise<void>
  /** Closed after the backends. */
  readonly close?: () => Promise<void>
}

export interface SiteKind {
  readonly make: (parts: SiteParts) => Site
  /** Default: all. */
  readonly algorithms?: readonly AlgorithmName[]
  /** What processes admit until they know of each other, or beside a failed backend, in guarantees. Default: 1. */
  readonly overshoot?: number
  /** Whether the processes share the wall clock of one machine. Default: each has its own. */
  readonly isOneMachine?: boolean
  /** Whether the server counts by a clock that is set, so that windows end early or late. */
  readonly hasServerSteps?: boolean
}

const NO_LOG = ['fixed-window', 'sliding-window', 'token-bucket', 'gcra'] as const
/** Longer than the default, because a day has many ticks. */
const GOSSIP_TICK_MS = 1_000
const LEASES = { fraction: 0.1, leaseMs: 2_000 }

/** The backends of limits, by name. */
export const siteKinds: Readonly<Record<string, SiteKind>> = {
  memoryBackend: {
    make: ({ clocks }) => {
      const backend = memoryBackend({ clock: clocks[0] })
      return { backends: [backend, backend] }
    },
  },
  redisBackend: {
    make: ({ clocks, redis, prefix, shared }) => ({
      backends: clocks.map((clock) => redisBackend(redis, { prefix, clock, serverTime: () => shared.now() })),
    }),
  },
  'redisBackend on a server whose clock is set': {
    isOneMachine: true,
    hasServerSteps: true,
    overshoot: Number.POSITIVE_INFINITY,
    make: ({ clocks, redis, prefix, shared }) => ({
      backends: clocks.map((clock) => redisBackend(redis, { prefix, clock, serverTime: () => shared.wall() })),
    }),
  },
  leasedBackend: {
    make: ({ clocks, redis, prefix, shared }) => ({
      backends: clocks.map((clock) =>
        leasedBackend(redis, { prefix, clock, serverTime: () => shared.now(), ...LEASES }),
      ),
    }),
  },
  syncedBackend: {
    algorithms: NO_LOG,
    overshoot: 1.5,
    make: ({ clocks, redis, prefix, shared }) => {
      const runner = new AwaitedRunner(scriptRunner(redis))
      const options = { prefix, serverTime: () => shared.now(), nodes: 2 }
      return {
        backends: clocks.map((clock) => syncedBackend(runner, { ...options, clock })),
        idle: () => runner.idle(),
      }
    },
  },
  'synced processes on a ledger in memory': {
    algorithms: NO_LOG,
    overshoot: 1.5,
    make: ({ clocks, shared, random }) => {
      const ledger = new MemorySyncLedger(shared)
      const terms = syncTermsOf('test', { nodes: 2 })
      return {
        backends: clocks.map((clock) => {
          const own = { ledger: ledger.join(), terms, clock, random: () => random.next() }
          return new SyncingBackend({ name: 'synced', rule: { source: 'local' }, ...own })
        }),
      }
    },
  },
  clusterBackend: {
    isOneMachine: true,
    make: ({ clocks, shared }) => {
      const primary = new PairedPrimary(LEASES, shared)
      return { backends: clocks.map((clock) => workerBackend(primary.port(), LEASES, clock)) }
    },
  },
  gossipBackend: { algorithms: ['fixed-window', 'sliding-window'], overshoot: 1.5, make: gossipSite },
  'a backend that fails every second hour': {
    overshoot: 2,
    make: ({ shared }) => {
      const flaky = new FlakyBackend(shared)
      return {
        backends: [flaky, flaky],
        onHour: (hour) => {
          flaky.heard.length = 0
          flaky.condition = hour % 2 === 0 ? 'well' : serverError('CONNECTION')
        },
      }
    },
  },
}

function gossipSite({ clocks, random }: SiteParts): Site {
  const nodes: GossipNode[] = clocks.map((clock, index) =>
    createGossip({
      peers: () => [{ name: nodes[1 - index].replica, exchange: async (message) => nodes[1 - index].answer(message) }],
      clock,
      tickMs: GOSSIP_TICK_MS,
      random: () => random.next(),
    }),
  )
  return {
    backends: nodes.map((node) => gossipBackend(node, { nodes: 2, tickMs: GOSSIP_TICK_MS })),
    close: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  }
}
