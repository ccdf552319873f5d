import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { expect, test } from '@jest/globals'
import { type Decision, memoryBackend, rateLimit } from '@sluice/node-http'
import { FakeClock, until } from '@sluice/testkit'
import { endedAfterEach } from '../../services/for-tests.ts'

// the key of the second limiter arrives when the client has left and the costs of the first limiter have been settled

const HOUR_MS = 3_600_000
const open = endedAfterEach<Server>((one) => one.close())

type Limit = ReturnType<typeof rateLimit>

/** Returns the units that are left for the client. */
const leftOf = ({ limiter }: Limit): number => (limiter.peek('a') as Decision).binding.remaining

const SECOND = { name: 'tokens', limit: 10, window: '1h', unit: 'tokens', maxHoldMs: '10m' } as const

/** Sends a request, closes its connection before the second limiter has its key, and then lets the key arrive. */
async function leave(first: Limit, second: Limit, go: () => void): Promise<void> {
  const server = createServer((req, res) => first(req, res, () => second(req, res, () => res.end())))
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  request.on('error', () => {})
  const [, res] = await once(server, 'request')
  const closed = once(res, 'close')
  request.destroy()
  await closed
  await first.idle()
  go()
}

test('units that are held after the end of a request are settled, and no timer extends them', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = memoryBackend({ clock })
  let arrive = (_key: string): void => {}
  const key = new Promise<string>((resolve) => {
    arrive = resolve
  })
  const first = rateLimit({ name: 'failed', limit: 5, window: '1m', countOnly: 'failures', backend, clock })
  const cost = { reserve: 2, extend: 'stream' } as const
  const second = rateLimit({ ...SECOND, backend, clock, cost, key: () => key })
  await leave(first, second, () => arrive('a'))
  await until(() => leftOf(second) === 8)
  await second.idle()
  expect(clock.pending).toBe(0)
  clock.advance(2 * HOUR_MS)
  expect(leftOf(second)).toBe(10)
  first.close()
  second.close()
})

test('a cost that is taken after the end of a request is settled once', async () => {
  const clock = new FakeClock({ nowMs: 1_000 })
  const backend = memoryBackend({ clock })
  let arrive = (_key: string): void => {}
  const key = new Promise<string>((resolve) => {
    arrive = resolve
  })
  const settled: string[] = []
  const costOf = (name: string) =>
    ({
      reserve: 2,
      settle: () => {
        settled.push(name)
        return undefined
      },
      settleOn: 'always',
    }) as const
  const first = rateLimit({ name: 'first', limit: 5, window: '1m', backend, clock, cost: costOf('first') })
  const second = rateLimit({ ...SECOND, backend, clock, cost: costOf('second'), key: () => key })
  await leave(first, second, () => arrive('a'))
  await until(() => settled.length > 1)
  await second.idle()
  expect(settled).toEqual(['first', 'second'])
  expect(leftOf(second)).toBe(8)
  first.close()
  second.close()
})
