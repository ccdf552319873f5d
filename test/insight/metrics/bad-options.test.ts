import { expect, test } from '@jest/globals'
import { createInsight, logObserver, metricsHandler, otelMetrics, otelSpans, promClientMetrics } from '@sluice/insight'

/** Functions as JavaScript would call them, without type checks. */
// biome-ignore lint/suspicious/noExplicitAny: these calls are wrong on purpose
type Untyped = (...args: any[]) => unknown

const [insight, log, handler, otel, spans, prom] = [
  createInsight,
  logObserver,
  metricsHandler,
  otelMetrics,
  otelSpans,
  promClientMetrics,
] as Untyped[]
const source = createInsight()

test.each<readonly [string, () => unknown]>([
  ['sources that are not a list', () => insight({ sources: {} })],
  ['a source without metrics', () => insight({ sources: [{}] })],
  ['a source that is undefined', () => insight({ sources: [undefined] })],
  ['an unknown option of createInsight', () => insight({ source: [] })],
  ['a handler without an insight', () => handler()],
  ['a handler of an object without metrics', () => handler({})],
  ['no registry', () => prom(source)],
  ['an invalid registry', () => prom(source, { register: {} })],
  ['a registry for an object without metrics', () => prom({}, { register: {} })],
  ['an unknown option of promClientMetrics', () => prom(source, { registry: {} })],
  ['no meter', () => otel(source, {})],
  ['an invalid meter', () => otel(source, { meter: {} })],
  ['no trace', () => spans({})],
  ['an invalid trace', () => spans({ trace: {} })],
  ['no logger', () => log({})],
  ['missing options of logObserver', () => log()],
  ['a logger without warn', () => log({ logger: {} })],
  ['an invalid privacy', () => log({ logger: console, privacy: 'none' })],
  ['an insight that is none', () => log({ logger: console, insight: {} })],
  ['an insight and a privacy', () => log({ logger: console, insight: source, privacy: 'full' })],
  ['an empty secret', () => log({ logger: console, privacy: 'hash', secret: '' })],
  ['an invalid clock', () => log({ logger: console, clock: 7 })],
])('%s is rejected at start-up with an error code', (_what, build) => {
  expect(build).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
})
