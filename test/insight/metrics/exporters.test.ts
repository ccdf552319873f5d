import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { prometheusText } from '@sluice/fleet/metrics'
import { createInsight, type Insight, metricsHandler, otelMetrics, promClientMetrics } from '@sluice/insight'
import { createLimiter, type Metric } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import express from 'express'
import { Counter, Registry } from 'prom-client'
import request from 'supertest'
import { BusyProcess } from './busy-process.ts'
import { type ExposedSeries, exposedSeries } from './exposed-series.ts'

class Reader extends MetricReader {
  protected override onShutdown = async () => {}
  protected override onForceFlush = async () => {}
}

let busy: BusyProcess
beforeAll(async () => {
  busy = await BusyProcess.start()
})
afterAll(() => busy.close())

function used(): Insight {
  const insight = createInsight()
  const clock = new FakeClock({ nowMs: 1_000 })
  const limiter = createLimiter({ policies: [{ name: 'api', limit: 1, window: '1h' }], clock })
  const route = { route: '/a"b\\c', method: 'GET', request: undefined }
  for (let take = 0; take < 3; take++) insight.decided('acme', limiter.take('acme'), route)
  limiter.close()
  return insight
}

const gauge = (name: string, value = 1): Metric => ({
  name,
  help: 'A gauge.',
  type: 'gauge',
  samples: [{ labels: {}, value }],
})

describe('metricsHandler', () => {
  test('answers GET and HEAD on node:http in the Prometheus format, and rejects everything else', async () => {
    const insight = used()
    const server = createServer(metricsHandler(insight))
    const { text, headers } = await request(server).get('/any').expect(200)
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(text).toBe(prometheusText(insight))
    const head = await request(server).head('/any').expect(200)
    expect(head.headers['content-length']).toBe(`${Buffer.byteLength(text)}`)
    const refused = await request(server).post('/any').expect(405)
    expect(refused.headers.allow).toBe('GET, HEAD')
  })

  test('works as a handler in Express', async () => {
    const app = express().get('/metrics', metricsHandler(used()))
    const { text } = await request(app).get('/metrics').expect(200)
    expect(text).toContain('sluice_decisions_total')
  })

  test('responds 500 if metrics cannot be written, and continues if a source throws', async () => {
    const twice = { metrics: () => [gauge('twice')] }
    const server = createServer(metricsHandler(createInsight({ sources: [twice, { ...twice }] })))
    const { text } = await request(server).get('/').expect(500)
    expect(text).toContain(
      "metric 'twice': expected different labels for each sample, received two samples with the same labels",
    )
    const broken = {
      metrics: () => {
        throw new Error('away')
      },
    }
    const beside = createServer(metricsHandler(createInsight({ sources: [broken, twice] })))
    const answer = await request(beside).get('/').expect(200)
    expect(answer.text).toContain('twice 1')
    expect(answer.text).toContain('sluice_source_failures_total 1')
  })
})

describe('promClientMetrics', () => {
  test('joins a registry with its own metrics: all series have the values of the insight', async () => {
    const register = new Registry()
    new Counter({ name: 'own_total', help: 'Of the application.', registers: [register] }).inc(7)
    promClientMetrics(busy.insight, { register })
    const series = exposedSeries(await register.metrics())
    const ours = series.filter(({ name }) => name !== 'own_total')
    expect(ours.map(lineOf).sort()).toEqual(exposedSeries(prometheusText(busy.insight)).map(lineOf).sort())
    expect(series).toContainEqual({ name: 'own_total', labels: {}, value: 7 })
    expect((await register.getMetricsAsJSON()).length).toBeGreaterThan(20)
  })

  test('uses the labels of the registry, survives its reset, and can be removed', async () => {
    const register = new Registry()
    register.setDefaultLabels({ region: 'eu' })
    const remove = promClientMetrics(used(), { register })
    const line = 'sluice_decisions_total{policy="api",outcome="denied",route="/a\\"b\\\\c",region="eu"} 2'
    expect(await register.metrics()).toContain(line)
    register.resetMetrics()
    expect(await register.metrics()).toContain(line)
    remove()
    expect(register.getMetricsAsArray()).toEqual([])
  })

  test('works with a registry in OpenMetrics format', async () => {
    const register = new Registry()
    register.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never)
    promClientMetrics(used(), { register })
    for (let reading = 0; reading < 2; reading++) {
      const text = await register.metrics()
      expect(text).toContain('# TYPE sluice_decisions counter')
      expect(text).toMatch(/^sluice_decisions_total\{.*outcome="denied".*\} 2$/m)
    }
  })

  test('includes a metric that a source adds later, from the next scrape on', async () => {
    const metrics: Metric[] = []
    const register = new Registry()
    promClientMetrics(createInsight({ sources: [{ metrics: () => metrics }] }), { register })
    metrics.push(gauge('later', 4))
    await register.metrics()
    expect(await register.metrics()).toContain('later 4')
  })

  test('rejects a registry that already has a metric with the same name', () => {
    const register = new Registry()
    promClientMetrics(used(), { register })
    expect(() => promClientMetrics(used(), { register })).toThrow(
      expect.objectContaining({
        code: 'SLUICE_BAD_OPTION',
        message: expect.stringContaining('sluice_decisions_total'),
      }),
    )
  })
})

describe('otelMetrics', () => {
  async function collected(reader: Reader) {
    const { resourceMetrics, errors } = await reader.collect()
    expect(errors).toEqual([])
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
    return new Map(
      metrics.map(({ descriptor, dataPoints }) => [descriptor.name, { unit: descriptor.unit, dataPoints }]),
    )
  }

  test('exports every metric through observable instruments, with attributes like aspnetcore.rate_limiting', async () => {
    const reader = new Reader()
    const meter = new MeterProvider({ readers: [reader] }).getMeter('sluice')
    otelMetrics(busy.insight, { meter })
    const metrics = await collected(reader)
    const requests = metrics.get('sluice.rate_limiting.requests')
    expect(requests?.unit).toBe('{request}')
    expect(requests?.dataPoints).toContainEqual(
      expect.objectContaining({
        value: 2,
        attributes: {
          'sluice.rate_limiting.policy': 'rated',
          'sluice.rate_limiting.result': 'allowed',
          'http.route': '/rated/:id',
        },
      }),
    )
    expect(metrics.get('sluice.rate_limiting.request_lease.duration.sum')?.unit).toBe('s')
    const waits = metrics.get('sluice.rate_limiting.request.time_in_queue.bucket')?.dataPoints ?? []
    expect(waits.map(({ attributes }) => attributes.le)).toContain('0.01')
    expect(metrics.get('sluice.backend_answer.count')?.dataPoints).toContainEqual(expect.objectContaining({ value: 1 }))
    // a metric without samples has no data points
    const series = exposedSeries(prometheusText(busy.insight))
    const points = [...metrics.values()].reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
    expect(points).toBe(series.length)
  })

  test('includes a metric that a source adds later, from the next collection on', async () => {
    const metrics: Metric[] = []
    const reader = new Reader()
    const meter = new MeterProvider({ readers: [reader] }).getMeter('sluice')
    otelMetrics(createInsight({ sources: [{ metrics: () => metrics }] }), { meter })
    metrics.push(gauge('later', 4))
    await collected(reader)
    expect((await collected(reader)).get('later')?.dataPoints).toEqual([expect.objectContaining({ value: 4 })])
  })
})

test('an insight that is removed from OpenTelemetry is no longer read', async () => {
  let reads = 0
  const insight = createInsight({ sources: [{ metrics: () => [gauge('reads', ++reads)] }] })
  const reader = new Reader()
  const stop = otelMetrics(insight, { meter: new MeterProvider({ readers: [reader] }).getMeter('sluice') })
  await reader.collect()
  expect(reads).toBe(2)
  stop()
  await reader.collect()
  expect(reads).toBe(2)
})

function lineOf({ name, labels, value }: ExposedSeries): string {
  return `${name} ${JSON.stringify(Object.entries(labels).sort())} ${value}`
}
