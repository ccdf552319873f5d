import { expect, test } from '@jest/globals'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import { memoryBackend } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { TextSource } from '../../policies/text-source.ts'

interface Served {
  readonly clock: FakeClock
  /** Sends a request. Returns the seconds of `Retry-After`, or 0 if it was allowed. */
  readonly waitS: () => Promise<number>
  readonly change: (policy: object) => Promise<void>
  readonly close: () => Promise<void>
}

function served(policy: object): Served {
  const clock = new FakeClock({ nowMs: 0 })
  const textOf = (one: object): string => JSON.stringify({ version: 1, policies: [one] })
  const source = new TextSource(textOf(policy))
  const options = policies<Request, FetchReply>(source, { attributes: { team: () => 'red' } })
  const limit = rateLimit({ ...options, backend: memoryBackend({ clock }), clock })
  const handle = limit.wrap(() => new Response('ok'))
  return {
    clock,
    waitS: async () => {
      const { status, headers } = await handle(new Request('http://localhost/'))
      expect([200, 429]).toContain(status)
      return status === 200 ? 0 : Number(headers.get('retry-after'))
    },
    change: async (next) => {
      source.text = textOf(next)
      await options.policies.reload()
    },
    close: async () => {
      options.policies.close()
      await limit.close()
    },
  }
}

const PLAIN = { name: 'a', key: 'team', limit: 10, per: '1m' }
const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const

// for the others, see test/limiter/laws
test.each(['fixed-window', 'sliding-window'] as const)(
  'booked turns are not carried as usage to a policy without turns: %s',
  async (algorithm) => {
    const booked = { ...PLAIN, algorithm, retry: 'booked' }
    const { clock, waitS, change, close } = served(booked)
    for (let times = 0; times < 60; times++) await waitS()
    // usage of the first ten requests has expired, and 50 turns are booked
    clock.advance(120_000)
    expect(await waitS()).toBe(0)
    const { retry: _retry, ...plain } = booked
    await change(plain)
    const waits: number[] = []
    for (let times = 0; times < 9; times++) waits.push(await waitS())
    expect(waits).toEqual(Array(9).fill(0))
    expect(await waitS()).toBeGreaterThan(0)
    await close()
  },
)

test.each(ALGORITHMS)('booked turns do not fill a larger limit: %s', async (algorithm) => {
  const booked = { ...PLAIN, algorithm, retry: 'booked' }
  const { waitS, change, close } = served(booked)
  for (let times = 0; times < 100; times++) await waitS()
  await change({ ...booked, limit: 100, per: '2m' })
  const waits: number[] = []
  for (let times = 0; times < 90; times++) waits.push(await waitS())
  expect(waits).toEqual(Array(90).fill(0))
  await close()
})
