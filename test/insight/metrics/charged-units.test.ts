import { expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { PlainCounter } from '@sluice/fleet/backend'
import { prometheusText } from '@sluice/fleet/metrics'
import { createInsight, type Insight, otelMetrics, promClientMetrics } from '@sluice/insight'
import { createLimiter, type Decision, memoryBackend, type Observer, type Policy } from '@sluice/limiter-core'
import type { Backend } from '@sluice/limiter-core/backend'
import { eachSeed, FakeClock, failingBackend, type SeededRandom } from '@sluice/testkit'
import express from 'express'
import { Registry } from 'prom-client'
import request from 'supertest'
import { endedAfterEach } from '../../services/for-tests.ts'
import { seriesValue } from './exposed-series.ts'

const open = endedAfterEach<Insight>((insight) => insight.close())

/** The expected counts of charged and refunded units by policy. */
class Asked {
  readonly #units = new Map<string, { charged: number; refunded: number }>()

  add(policy: string, units: number): void {
    const { charged, refunded } = this.of(policy)
    this.#units.set(policy, { charged: charged + Math.max(0, units), refunded: refunded + Math.max(0, -units) })
  }

  of(policy: string): { charged: number; refunded: number } {
    return this.#units.get(policy) ?? { charged: 0, refunded: 0 }
  }
}

function watched(): Insight {
  const insight = createInsight({ clock: new FakeClock() })
  open.push(insight)
  return insight
}

function counted(insight: Insight, policy: string): { charged: number; refunded: number } {
  const text = prometheusText(insight)
  return {
    charged: seriesValue(text, 'sluice_units_charged_total', { policy }),
    refunded: seriesValue(text, 'sluice_units_refunded_total', { policy }),
  }
}

function shown(insight: Insight, policy: string): { charged: number; refunded: number } {
  const found = insight.snapshot().policies.find(({ name }) => name === policy)
  return found?.units ?? { charged: 0, refunded: 0 }
}

/** Answers like the memory backend, but asynchronously. */
function laterBackend(): Backend {
  const memory = memoryBackend({ clock: new FakeClock({ nowMs: 1_000 }) })
  const inMemory = new Map<string, ReturnType<typeof memory.open>>()
  const behind = <T extends { counter: { name: string } }>(all: readonly T[]) =>
    all.map((one) => ({ ...one, counter: inMemory.get(one.counter.name) as ReturnType<typeof memory.open> }))
  const backend: Backend = {
    name: 'later',
    open(compiled, name) {
      inMemory.set(name, memory.open(compiled, name))
      return new PlainCounter(backend, compiled, name)
    },
    takeAll: async (charges, moment) => memory.takeAll(behind(charges), moment),
    peekAll: async (charges, moment) => memory.peekAll(behind(charges), moment),
    adjustAll: async (charges, takenAt, moment) => memory.adjustAll(behind(charges), takenAt, moment),
    resetAll: async (keys) => memory.resetAll(behind(keys)),
  }
  return backend
}

const policies = [
  { name: 'units', limit: 40, window: '1h' },
  { name: 'tried', limit: 5, window: '1h', mode: 'shadow' },
] as const

/** Returns the units that a charge moves: it refunds none to a policy that took none. */
function movedBy(units: number, part: Decision | undefined, isShadow: boolean): number {
  const hasTaken = part?.allowed !== false && (!isShadow || part?.verdicts.every(({ allowed }) => allowed) !== false)
  return units < 0 && !hasTaken ? 0 : units
}

/** A mix of takes and charges, one for both policies or one for each. */
async function mix(random: SeededRandom, limiter: ReturnType<typeof createLimiter>, asked: Asked): Promise<void> {
  for (let step = 0; step < 200; step++) {
    const key = `key ${random.whole(4)}`
    const taken = await limiter.take(key, random.whole(4))
    const units = random.whole(21) - 10
    const apart = random.whole(3) === 0
    const tried = apart ? random.whole(5) - 2 : units
    const part = random.whole(2) === 0 ? taken : undefined
    await limiter.charge(key, apart ? { units, tried } : units, part)
    asked.add('units', movedBy(units, part, false))
    asked.add('tried', movedBy(tried, part, true))
  }
}

test.each([
  ['at once', () => memoryBackend({ clock: new FakeClock({ nowMs: 1_000 }) })],
  ['later', laterBackend],
] as const)('units moved by a limiter are counted exactly if the backend answers %s', (_when, made) =>
  eachSeed(3, async (random) => {
    const insight = watched()
    const limiter = createLimiter({ policies, backend: made(), deadlineMs: 60_000, observers: [insight] })
    const asked = new Asked()
    await mix(random, limiter, asked)
    for (const { name } of policies) {
      expect(counted(insight, name)).toEqual(asked.of(name))
      expect(shown(insight, name)).toEqual(asked.of(name))
    }
    limiter.close()
  }),
)

test('policies on two backends are counted separately', () =>
  eachSeed(2, async (random) => {
    const insight = watched()
    const apart = [policies[0], { ...policies[1], backend: laterBackend() }]
    const limiter = createLimiter({ policies: apart, deadlineMs: 60_000, observers: [insight] })
    const asked = new Asked()
    await mix(random, limiter, asked)
    for (const { name } of policies) expect(counted(insight, name)).toEqual(asked.of(name))
    limiter.close()
  }))

test('charge, refund and settle of requests are counted as requested', () =>
  eachSeed(1, async (random) => {
    const insight = watched()
    const asked = new Asked()
    const steps = Array.from({ length: 40 }, () => ({ how: random.whole(4), units: random.whole(9) }))
    const app = express()
    const limit = rateLimit({ name: 'tokens', limit: 1_000, window: '1h', cost: 5, observers: [insight] })
    app.get('/:step', limit, async (req, res) => {
      const { how, units } = steps[Number(req.params.step)]
      if (how === 0) await req.sluice?.charge(units)
      if (how === 1) await req.sluice?.refund()
      if (how === 2) await req.sluice?.settle(units)
      if (how === 3) await req.sluice?.charge(-units)
      res.end()
    })
    for (const [step, { how, units }] of steps.entries()) {
      await request(app).get(`/${step}`).expect(200)
      asked.add('tokens', [units, -5, units - 5, -units][how])
    }
    expect(counted(insight, 'tokens')).toEqual(asked.of('tokens'))
  }))

test('units that a failing backend did not count are not reported, for any failure rule', async () => {
  const insight = watched()
  const charged: unknown[] = []
  const observers: Observer[] = [insight, { charged: (...told) => charged.push(told) }]
  for (const onBackendError of ['local', 'allow', 'deny'] as const) {
    const backend = failingBackend(() => Promise.reject(new Error('gone')))
    const limiter = createLimiter({ policies, backend, onBackendError, observers })
    const taken = await limiter.take('acme', 2)
    await limiter.charge('acme', 3, taken)
    await limiter.charge('acme', -1, taken)
    await limiter.charge('acme', 7)
    limiter.close()
  }
  expect(charged).toEqual([])
  expect(counted(insight, 'units')).toEqual({ charged: 0, refunded: 0 })
})

test('an observer receives the key, the whole units and the policy, and a charge of zero is not reported', () => {
  const charged: [string, number, Policy][] = []
  const observers: Observer[] = [{ charged: (...told) => charged.push(told) }]
  const limiter = createLimiter({ policies: [policies[0]], observers })
  limiter.charge('acme', 1.5)
  limiter.charge('acme', -1.5)
  limiter.charge('acme', 0)
  limiter.charge('acme', -0.5)
  expect(charged.map(([key, units, { name }]) => [key, units, name])).toEqual([
    ['acme', 2, 'units'],
    ['acme', -1, 'units'],
  ])
  limiter.close()
})

test('prom-client and OpenTelemetry have both series', async () => {
  const insight = watched()
  const limiter = createLimiter({ policies: [policies[0]], observers: [insight] })
  limiter.charge('acme', 4)
  limiter.charge('acme', -3)
  const register = new Registry()
  promClientMetrics(insight, { register })
  const text = await register.metrics()
  expect(seriesValue(text, 'sluice_units_charged_total', { policy: 'units' })).toBe(4)
  expect(seriesValue(text, 'sluice_units_refunded_total', { policy: 'units' })).toBe(3)
  const instruments: string[] = []
  const made = (name: string) => {
    instruments.push(name)
    return { addCallback: () => {}, removeCallback: () => {} }
  }
  const meter = { createObservableGauge: made, createObservableUpDownCounter: made, createObservableCounter: made }
  otelMetrics(insight, { meter: meter as unknown as Parameters<typeof otelMetrics>[1]['meter'] })
  expect(instruments).toEqual(expect.arrayContaining(['sluice.units_charged', 'sluice.units_refunded']))
  limiter.close()
})
