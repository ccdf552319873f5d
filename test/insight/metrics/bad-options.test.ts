import { expect, test } from '@jest/globals'
import { createInsight, logObserver, metricsHandler, otelMetrics, promClientMetrics } from '@sluice/insight'

/** As JavaScript would call it: no type stands in the way. */
// biome-ignore lint/suspicious/noExplicitAny: these calls are wrong on purpose
type Untyped = (...args: any[]) => unknown

const [insight, log, handler, otel, prom] = [
  createInsight,
  logObserver,
  metricsHandler,
  otelMetrics,
  promClientMetrics,
] as Untyped[]
const source = createInsight()

test.each<readonly [string, () => unknown]>([
  ['sources that are no list', () => insight({ sources: {} })],
  ['a source without metrics', () => insight({ sources: [{}] })],
  ['a source that is nothing', () => insight({ sources: [undefined] })],
  ['an unknown option of createInsight', () => insight({ source: [] })],
  ['a handler of nothing', () => handler()],
  ['a handler of what has no metrics', () => handler({})],
  ['no registry', () => prom(source)],
  ['a registry that is none', () => prom(source, { register: {} })],
  ['a registry for what has no metrics', () => prom({}, { register: {} })],
  ['an unknown option of promClientMetrics', () => prom(source, { registry: {} })],
  ['no meter', () => otel(source, {})],
  ['a meter that is none', () => otel(source, { meter: {} })],
  ['no logger', () => log({})],
  ['no options of logObserver', () => log()],
  ['a logger without warn', () => log({ logger: {} })],
  ['a privacy that is none', () => log({ logger: console, privacy: 'none' })],
  ['a secret that is empty', () => log({ logger: console, privacy: 'hash', secret: '' })],
  ['a clock that is none', () => log({ logger: console, clock: 7 })],
])('%s is refused at start-up, by code', (_what, build) => {
  expect(build).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
})
