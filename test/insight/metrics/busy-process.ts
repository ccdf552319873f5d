import { createServer, type Server } from 'node:http'
import { createCounters } from '@sluice/counters'
import { inflightLimit, rateLimit, shed, slowDown } from '@sluice/express'
import { PlainCounter } from '@sluice/fleet/backend'
import { MemorySyncLedger, SyncingBackend, syncTermsOf } from '@sluice/fleet/sync'
import { createInsight, type Insight, metricsHandler } from '@sluice/insight'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import type { Backend } from '@sluice/limiter-core/backend'
import { FakeClock, failingBackend } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'

/** An application in which every measured event has happened. */
export class BusyProcess {
  readonly insight: Insight
  readonly server: Server
  readonly #close: () => Promise<void>

  private constructor(insight: Insight, server: Server, close: () => Promise<void>) {
    this.insight = insight
    this.server = server
    this.#close = close
  }

  static async start(): Promise<BusyProcess> {
    const clock = new FakeClock({ nowMs: 1_000 })
    const synced = syncedBackend(clock)
    const counters = createCounters({ name: 'usage' })
    const insight = createInsight({ sources: [synced, counters] })
    const observers = [insight]
    await failing(insight)
    await answering(insight)
    flooded(insight)
    late(insight)
    const limiter = createLimiter({
      policies: [{ name: 'shared', limit: 100, window: '1h' }],
      backend: synced,
      observers,
    })
    await limiter.take('acme')
    // emits the events of a synced backend whose ledger does not respond
    insight.event('sync', { topic: 'global', failed: 'CONNECTION' })
    const app = express()
    app.get('/metrics', metricsHandler(insight))
    app.get('/rated/:id', rateLimit({ name: 'rated', limit: 2, window: '1h', observers }), (_req, res) => res.end())
    app.get('/none', inflightLimit({ name: 'none', limit: 1, observers, weight: () => 2 }), (_req, res) => res.end())
    app.get('/some', inflightLimit({ name: 'some', limit: 9, observers }), (_req, res) => res.end())
    const slow = slowDown({ name: 'slow', after: 1, window: '1h', delayMs: 1, maxDelayMs: 1, observers })
    app.get('/slow', slow, (_req, res) => res.end())
    const ill = shed({ name: 'ill', eventLoopDelayMs: false, health: () => false, clock, observers })
    app.get('/ill', ill, (_req, res) => res.end())
    const odd = rateLimit({ name: 'odd', limit: 9, window: '1h', key: () => undefined, cost: failingCost, observers })
    app.get('/odd', odd, (_req, res) => res.end())
    const server = createServer(app)
    for (const path of [
      '/rated/1',
      '/rated/2',
      '/rated/3',
      '/none',
      '/some',
      '/slow',
      '/slow',
      '/slow',
      '/ill',
      '/odd',
    ]) {
      await request(server).get(path)
    }
    return new BusyProcess(insight, server, async () => {
      ill.close()
      limiter.close()
      await synced.close()
      await counters.close()
      await insight.close()
    })
  }

  async metrics(): Promise<string> {
    return (await request(this.server).get('/metrics').expect(200)).text
  }

  close(): Promise<void> {
    return this.#close()
  }
}

export function syncedBackend(clock: FakeClock): SyncingBackend {
  const terms = syncTermsOf('test', { burst: 1, nodes: 1 })
  const ledger = new MemorySyncLedger(clock).join()
  return new SyncingBackend({ name: 'global', ledger, terms, rule: { source: 'local', share: 1 }, clock })
}

/** Makes decisions by a failure rule, until the breaker opens. */
async function failing(insight: Insight): Promise<void> {
  const backend = failingBackend(() => Promise.reject(Object.assign(new Error('gone'), { code: 'CONNECTION' })))
  const policies = [{ name: 'remote', limit: 5, window: '1h' }] as const
  const limiter = createLimiter({ policies, backend, observers: [insight] })
  for (let take = 0; take < 12; take++) await limiter.take('acme')
  limiter.close()
}

/** Uses a backend that answers asynchronously. */
async function answering(insight: Insight): Promise<void> {
  const memory = memoryBackend()
  const backend: Backend = {
    ...failingBackend(() => Promise.reject(new Error('nobody asks'))),
    name: 'far',
    open(compiled, name) {
      const counter = memory.open(compiled, name)
      const take = async (key: string, cost: number) => counter.take(key, cost)
      return Object.assign(new PlainCounter(backend, compiled, name), { take })
    },
  }
  const policies = [{ name: 'far', limit: 5, window: '1h' }] as const
  const limiter = createLimiter({ policies, backend, deadlineMs: 5_000, observers: [insight] })
  await limiter.take('acme')
  limiter.close()
}

/** Makes a charge after its window has ended. */
function late(insight: Insight): void {
  const clock = new FakeClock({ nowMs: 1_000 })
  const policies = [{ name: 'late', limit: 5, window: '1s', algorithm: 'fixed-window' }] as const
  const limiter = createLimiter({ policies, backend: memoryBackend({ clock }), clock, observers: [insight] })
  const { takenAt } = limiter.take('acme')
  clock.advance(5_000)
  limiter.charge('acme', 3, takenAt)
  limiter.close()
}

function failingCost(): number {
  throw new Error('no body yet')
}

/** Uses more keys than memory has room for, with two limiters on one backend. Half of the keys are heavy. */
function flooded(insight: Insight): void {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = memoryBackend({ maxBytes: 64 * 1024, clock })
  const limiters = ['flood', 'beside'].map((name) => {
    return createLimiter({ policies: [{ name, limit: 1, window: '1h' }], backend, clock, observers: [insight] })
  })
  for (let key = 0; key < 5_000; key++) limiters[0].take(`key-${key}`)
  clock.advance(1_000)
  for (let key = 5_000; key < 5_100; key++) limiters[0].take(`key-${key}`)
  for (const limiter of limiters) limiter.close()
}
