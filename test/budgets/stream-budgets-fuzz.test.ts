import { expect, test } from '@jest/globals'
import { rateLimit, sluiceOf } from '@sluice/fetch'
import { createLimiter, memoryBackend } from '@sluice/limiter-core'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { PromisedBackend } from '../contracts/async-backend.ts'
import { eventually } from '../services/eventually.ts'

const LIMIT = 1_000
const LARGEST_REPORT = 20

interface Stream {
  readonly random: SeededRandom
  readonly clock: FakeClock
  /** Units that the handler has reported; undefined without a report. */
  used?: number
}

/** Streams parts of random sizes, and reports each of them. */
function answer(stream: Stream, request: Request): Response {
  const { random, clock } = stream
  const sluice = sluiceOf(request)
  let parts = random.whole(40)
  const body = new ReadableStream(
    {
      async pull(controller) {
        if (parts-- === 0) return controller.close()
        const units = random.whole(LARGEST_REPORT + 1)
        controller.enqueue(new TextEncoder().encode(`${units}\n`))
        stream.used = (stream.used ?? 0) + units
        if (random.whole(10) === 0) clock.advance(1_000)
        await sluice?.used(units)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body)
}

async function read({ random }: Stream, response: Response): Promise<void> {
  const reader = response.body?.getReader()
  let parts = random.whole(50)
  try {
    while (parts-- > 0) if ((await reader?.read())?.done) return
    await reader?.cancel()
  } catch {
    // ended because the limit was reached
  }
}

test.each([
  ['memory', false],
  ['a backend across a network', true],
])('on %s, streams are charged what they report, and exceed the limit by at most a report each', (_name, isAsync) =>
  eachSeed(20, async (random) => {
    const clock = new FakeClock()
    const backend = isAsync ? new PromisedBackend(clock) : memoryBackend({ clock })
    const policy = { name: 'tokens', limit: LIMIT, window: '1d', algorithm: 'fixed-window', maxHoldMs: '4s' } as const
    const limiter = createLimiter({ policies: [policy], backend, shared: true, clock })
    const reserve = 1 + random.whole(30)
    const cost = { reserve, extend: 'stream', extendBy: 1 + random.whole(60) } as const
    // the clock advances while calls are under way
    const limit = rateLimit({ ...policy, backend, shared: true, clock, deadlineMs: '1m', key: () => 'a', cost })
    const charged = await Promise.all(
      Array.from({ length: 1 + random.whole(12) }, async () => {
        const stream: Stream = { random, clock }
        const response = await limit.wrap((request) => answer(stream, request))(new Request('http://localhost/'))
        await read(stream, response)
        return response.status === 200 ? (stream.used ?? reserve) : 0
      }),
    )
    const spent = charged.reduce((sum, units) => sum + units, 0)
    expect(spent).toBeLessThanOrEqual(LIMIT + charged.length * LARGEST_REPORT)
    const left = async (): Promise<number> => (await limiter.peek('a')).binding.remaining
    await eventually(async () => (await left()) === Math.max(0, LIMIT - spent), { what: `${LIMIT} - ${spent} units` })
    expect(clock.pending).toBe(0)
    limit.close()
    await limiter.close()
  }),
)
