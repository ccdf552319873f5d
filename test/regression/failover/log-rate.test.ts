import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { resetWarnings } from '@sluice/limiter-core/backend'
import { FakeClock, Warnings } from '@sluice/testkit'
import { FailureLog } from '../../../packages/limiter-core/src/failover/health/failure-log.ts'

const warnings = new Warnings()
beforeEach(() => warnings.listen())
afterEach(() => {
  warnings.stop()
  resetWarnings()
})

test('a backend that fails and recovers five times a second causes two lines a second', () => {
  const clock = new FakeClock()
  const log = new FailureLog('flapping', clock)
  for (let times = 0; times < 15; times++) {
    log.countFallback()
    log.failed('CONNECTION', new Error('it broke'))
    clock.advance(100)
    log.recovered()
    clock.advance(100)
  }
  const pair = ['SLUICE_BACKEND_FAILED', 'SLUICE_BACKEND_RECOVERED']
  expect(warnings.codes).toEqual([...pair, ...pair, ...pair])
})

test('an outage that begins within a second of the last line is reported, even if there are no further calls', () => {
  const clock = new FakeClock()
  const log = new FailureLog('dead', clock)
  log.failed('CONNECTION', new Error('it broke'))
  log.recovered()
  clock.advance(500)
  log.failed('CONNECTION', new Error('it broke again'))
  expect(warnings.codes.filter((code) => code === 'SLUICE_BACKEND_FAILED')).toHaveLength(1)
  clock.advance(600)
  log.countFallback()
  clock.advance(60_000)
  log.recovered()
  expect(warnings.codes).toEqual([1, 2].flatMap(() => ['SLUICE_BACKEND_FAILED', 'SLUICE_BACKEND_RECOVERED']))
  expect(warnings.texts[2]).toContain('it broke again')
})

test('an outage is reported after 2, 6 and 14 seconds although the open breaker makes no calls, with its latest cause', () => {
  const clock = new FakeClock()
  const log = new FailureLog('dead', clock)
  log.failed('LATE', new Error('no reply within 50 ms'))
  clock.advance(100)
  log.failed('CONNECTION', new Error('it broke'))
  for (let ms = 100; ms < 20_000; ms += 100) {
    log.countFallback()
    clock.advance(100)
  }
  expect(warnings.codes).toEqual(Array(4).fill('SLUICE_BACKEND_FAILED'))
  expect(warnings.texts[0]).toContain('LATE: Error: no reply within 50 ms')
  for (const text of warnings.texts.slice(1)) expect(text).toContain('CONNECTION: Error: it broke')
  expect(warnings.texts[1]).toContain('(20 since the last warning)')
  log.recovered()
  clock.advance(60_000)
  log.countFallback()
  expect(warnings.codes.slice(4)).toEqual(['SLUICE_BACKEND_RECOVERED'])
})
