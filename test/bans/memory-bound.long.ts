import { expect, test } from '@jest/globals'
import { createLimiter, type Observer } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { banKeys } from './banned-keys.ts'

test('a million banned keys stay within the memory of the backend, and the last of them stay banned', () => {
  const maxBytes = 32 * 2 ** 20
  const { bytes, bannedOfLast } = banKeys(1_000_000, maxBytes)
  expect(bytes).toBeLessThanOrEqual(maxBytes)
  expect(bannedOfLast).toBe(1_000)
}, 300_000)

test('banned keys are known to a process in bounded memory, and answered from it without a call', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = new PromisedBackend(clock)
  const bans: string[] = []
  const observer: Observer = { event: (name, { key }) => void (name === 'ban' && bans.push(String(key))) }
  const limiter = createLimiter({
    name: 'api',
    limit: 1,
    window: '1m',
    backend,
    clock,
    observers: [observer],
    ban: { after: 1, within: '1m', for: '1h' },
  })
  const before = process.memoryUsage().heapUsed
  for (let index = 0; index < 60_000; index++) {
    const key = `key ${index}`
    await limiter.take(key)
    await limiter.take(key)
    if (index % 100 === 0) backend.calls.length = 0
  }
  expect(bans.length).toBeGreaterThan(59_990)
  const grown = process.memoryUsage().heapUsed - before
  expect(grown).toBeLessThan(120 * 2 ** 20)
  backend.calls.length = 0
  const { source } = await limiter.take('key 59990')
  expect([source, backend.calls]).toEqual(['banned', []])
}, 300_000)
