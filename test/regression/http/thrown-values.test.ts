import { describe, expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createLimiter, type RequestView } from '@sluice/limiter-core'
import { resetWarnings } from '@sluice/limiter-core/backend'
import { failingBackend } from '@sluice/testkit'

const thrown: Readonly<Record<string, unknown>> = {
  'a symbol': Symbol('thrown'),
  'an object without a prototype': Object.create(null),
  'an object whose toString throws': {
    toString() {
      throw new Error('toString')
    },
  },
}
const view: RequestView = { ip: '192.0.2.1', method: 'GET', route: '/', header: () => undefined, raw: {} }

// regression: building a warning from the thrown value threw, which led to a 500 or an unhandled rejection
describe.each(Object.keys(thrown))('%s', (name) => {
  const boom = (): never => {
    throw thrown[name]
  }

  test.each(['key', 'cost', 'skip'])('thrown by %s is handled by the fallback', (hook) => {
    resetWarnings()
    const guard = new RateGate({ limit: 5, window: '1m', [hook]: boom })
    expect(guard.check(view)).toMatchObject({ decision: { allowed: true } })
  })

  test.each(['key', 'cost', 'skip'])('as the rejection of %s is handled by the fallback', async (hook) => {
    resetWarnings()
    const guard = new RateGate({ limit: 5, window: '1m', [hook]: () => Promise.reject(thrown[name]) })
    expect(await guard.check(view)).toMatchObject({ decision: { allowed: true } })
  })

  test('thrown by a backend is handled by the failure rule', () => {
    const backend = failingBackend(boom, 'broken')
    const guard = new RateGate({ limit: 5, window: '1m', backend })
    expect(guard.check(view)).toMatchObject({ decision: { allowed: true, counted: false, source: 'local' } })
  })

  test('thrown by a synchronous backend is handled by the failure rule, synchronously', () => {
    resetWarnings()
    const backend = { ...failingBackend(boom, 'broken'), synchronous: true }
    const guard = new RateGate({ limit: 5, window: '1m', backend })
    expect(guard.check(view)).toMatchObject({ decision: { allowed: true, counted: false, source: 'local' } })
  })

  test('thrown by an observer does not change the answer', () => {
    resetWarnings()
    const limiter = createLimiter({ policies: [{ limit: 5, window: '1m' }], observers: [{ decided: boom }] })
    expect(limiter.take('key').allowed).toBe(true)
  })
})
