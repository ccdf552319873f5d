import { expect, test } from '@jest/globals'
import { sluice } from '@sluice/fastify'
import { type FetchReply, rateLimit } from '@sluice/fetch'
import { type Answer, type Backend, memoryBackend } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { fastify } from 'fastify'
import { TextSource } from '../../policies/text-source.ts'

const OVERRIDES = { overrides: [{ policy: 'api', key: '192.0.2.1', limit: 5 }] }

function documentOf(policy: object, more: object = {}): string {
  return JSON.stringify({ version: 1, policies: [{ name: 'api', per: '1m', ...policy }], ...more })
}

function served(text: string) {
  const clock = new FakeClock({ nowMs: 1_000_000 })
  const backend: Backend<Answer> = memoryBackend({ clock })
  const source = new TextSource(text)
  const loaded = policies<Request, FetchReply>(source, { attributes: { plan: () => 'free' } })
  const limit = rateLimit({ ...loaded, clock, backend })
  const handle = limit.wrap(() => new Response('ok'))
  const ask = async (): Promise<{ status: number; left: number; t: number }> => {
    const { status, headers } = await handle(new Request('http://x/'), { ip: '192.0.2.1' })
    const [, left, t] = /r=(\d+)(?:;t=(\d+))?/.exec(headers.get('ratelimit') ?? '') ?? []
    return { status, left: Number(left), t: Number(t ?? 0) }
  }
  const change = async (next: string): Promise<void> => {
    source.text = next
    await loaded.policies.reload()
  }
  return { clock, ask, change, close: () => limit.close() }
}

const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const

/** A policy under which the only client has 5 units a minute, whose limit is written in one of several ways. */
function anyForm(random: SeededRandom): readonly [string, { policy: object; isSliced: boolean }] {
  const algorithm = random.pick(ALGORITHMS)
  const [written, more] = random.pick([
    [{ limit: 5 }, {}],
    [{ limit: { free: 5, pro: 60 } }, {}],
    [{ limit: { free: 5, pro: 3 } }, {}],
    [{ limit: 2 }, OVERRIDES],
    [{ limit: 50 }, OVERRIDES],
  ] as const)
  const slices = algorithm === 'sliding-window' ? random.pick([undefined, 2, 3, 6]) : undefined
  const retry = slices === undefined && random.whole(4) === 0 ? ({ retry: 'booked' } as const) : {}
  const policy = { ...written, algorithm, ...(slices && { slices }), ...retry }
  return [documentOf(policy, more), { policy, isSliced: slices !== undefined }]
}

test('a reload neither frees a key that has used its own limit nor denies it beyond two windows', async () => {
  const pairs = new Set<string>()
  await eachSeed(150, async (random) => {
    const [before, { policy }] = anyForm(random)
    const { clock, ask, change, close } = served(before)
    const used = 1 + random.whole(5)
    for (let at = 0; at < used; at++) expect((await ask()).status).toBe(200)
    let from: object = policy
    for (let changes = 1 + random.whole(3); changes > 0; changes--) {
      // long ago enough for a clock of whole milliseconds, too short for a unit to drain
      clock.advance(10)
      const [after, next] = anyForm(random)
      await change(after)
      pairs.add(`${JSON.stringify(from)} ${JSON.stringify(next.policy)}`)
      from = next.policy
      // most changes are followed by a request, without which the next one carries usage over two changes
      if (random.whole(4) === 0) continue
      const { status, t } = await ask()
      if (status === 200) {
        expect(used).toBeLessThan(5)
        break
      }
      expect([used, status, t <= 120]).toEqual([5, 429, true])
    }
    clock.advance(240_000)
    expect(await ask()).toMatchObject({ status: 200, left: 4 })
    close()
  })
  console.info(`${pairs.size} pairs of forms`)
})

test.each([undefined, 2, 3].flatMap((from) => [undefined, 2, 3].map((to) => [from, to])))(
  'a window of %p slices that gets %p keeps its usage',
  async (from, to) => {
    const policy = { limit: 100, per: '1h', algorithm: 'sliding-window' }
    const { ask, change, close } = served(documentOf({ ...policy, ...(from && { slices: from }) }))
    expect(await ask()).toMatchObject({ status: 200, left: 99 })
    await change(documentOf({ ...policy, ...(to && { slices: to }) }))
    expect(await ask()).toMatchObject({ status: 200, left: 98 })
    close()
  },
)

test.each(['10m', () => '10m'])('a reload frees no key on a route with the window %p', async (window) => {
  const clock = new FakeClock()
  const source = new TextSource(documentOf({ limit: 3 }))
  const loaded = policies(source)
  const app = fastify()
  await app.register(sluice, { rateLimit: { ...loaded, clock } } as never)
  const route = { name: 'route', limit: 100, window } as never
  app.get('/r', { config: { sluice: { rateLimit: route } } }, async () => 'r')
  const ask = async (): Promise<number> => (await app.inject('/r')).statusCode
  for (let at = 0; at < 3; at++) expect(await ask()).toBe(200)
  expect(await ask()).toBe(429)
  source.text = documentOf({ limit: 3, per: '2m' })
  await loaded.policies.reload()
  expect(await ask()).toBe(429)
  await app.close()
})

test('combinations of windows from functions share the counters of their windows', async () => {
  const opened: string[] = []
  const memory = memoryBackend({ clock: new FakeClock() })
  const backend: Backend<Answer> = Object.assign(Object.create(memory), {
    open: (...args: Parameters<typeof memory.open>) => {
      opened.push(args[1])
      return memory.open(...args)
    },
    takeAll: memory.takeAll.bind(memory),
    peekAll: memory.peekAll.bind(memory),
  })
  const names = ['a', 'b', 'c']
  const window = (name: string) => (request: Request) => Number(request.headers.get(name))
  const each = names.map((name) => ({ name, limit: 1_000_000, window: window(name) }))
  const limit = rateLimit({ policies: each as never, key: () => 'k', backend })
  const handle = limit.wrap(() => new Response('ok'))
  for (let at = 0; at < 1_000; at++) {
    const headers = Object.fromEntries(
      names.map((name, index) => [name, `${60_000 + (Math.floor(at / 10 ** index) % 10)}`]),
    )
    expect((await handle(new Request('http://x/', { headers }))).status).toBe(200)
  }
  expect(opened.length).toBeLessThanOrEqual(3 * 11)
  expect(new Set(opened).size).toBe(3 * 10)
  limit.close()
})
