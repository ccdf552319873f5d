import { expect, test } from '@jest/globals'
import type { Backend } from '@sluice/limiter-core'
import {
  compileFailover,
  type LimiterIdentity,
  Observers,
  openPolicies,
  type PolicyInput,
  PolicyLimiter,
} from '@sluice/limiter-core/http'
import { createRedis, leasedBackend, redisBackend, syncedBackend } from '@sluice/redis'
import { eventually } from '../services/eventually.ts'
import { calledAfterEach } from '../services/for-tests.ts'
import { redisForTests } from '../services/redis/redis-for-tests.ts'

const redis = redisForTests()
const open = calledAfterEach()

/** Changes of one policy; each keeps the usage of its keys. */
const FORMS: readonly Omit<PolicyInput, 'name'>[] = [
  { algorithm: 'fixed-window', limit: 500, window: '1h' },
  { algorithm: 'fixed-window', limit: 500, window: '2h' },
  { algorithm: 'sliding-window', limit: 500, window: '1h' },
  { algorithm: 'token-bucket', limit: 500, window: '1d' },
  { algorithm: 'gcra', limit: 500, window: '1d' },
]

function limiterOn(backend: Backend, identity: LimiterIdentity, form: Omit<PolicyInput, 'name'>): PolicyLimiter {
  const [opened] = openPolicies([[{ name: 'p', ...form }]], { backend, identity })
  // a busy machine may stand still for longer than the default deadline
  return new PolicyLimiter(opened, undefined, new Observers(), compileFailover({ deadlineMs: 20_000 }))
}

const backends = {
  exact: redisBackend,
  leased: leasedBackend,
  synced: syncedBackend,
} as const

test.each(Object.keys(backends) as (keyof typeof backends)[])(
  'usage on the %s backend survives each change of algorithm and window',
  async (name) => {
    const client = createRedis({ port: redis.server.port })
    open.push(() => client.quit())
    const backend = backends[name](client, { prefix: `${name}:` })
    open.push(() => backend.close?.())
    const identity = {}
    let limiter = limiterOn(backend, identity, FORMS[0])
    open.push(() => limiter.close())
    let used = 0
    for (let change = 1; change <= 10; change++) {
      for (let times = 0; times < 10; times++) {
        expect((await limiter.take('a')).allowed).toBe(true)
        used++
      }
      const next = limiterOn(backend, identity, FORMS[change % FORMS.length])
      next.replace(limiter)
      limiter = next
      const { binding, counted } = await limiter.peek('a')
      expect([change, counted]).toEqual([change, true])
      expect(500 - binding.remaining).toBe(used)
    }
    if (name === 'synced')
      return eventually(async () => (await limiter.peek('a')).binding.remaining === 500 - used, { what: 'the usage' })
    while ((await limiter.take('a')).allowed) used++
    expect(used).toBeLessThanOrEqual(500)
    // unused leases of replaced policies return when they expire
    expect(used).toBeGreaterThan(name === 'leased' ? 400 : 499)
  },
)

test('a change of the window in several processes counts what they have spent of their leases, not what they hold', async () => {
  const limit = 10_000
  const processes = Array.from({ length: 3 }, () => {
    const client = createRedis({ port: redis.server.port })
    open.push(() => client.quit())
    const backend = leasedBackend(client, { prefix: 'held:' })
    open.push(() => backend.close?.())
    const identity = {}
    const next = (window: '1h' | '2h'): PolicyLimiter =>
      limiterOn(backend, identity, { algorithm: 'fixed-window', limit, window })
    return { next, limiter: next('1h') }
  })
  let admitted = 0
  const takeMany = (times: number): Promise<unknown> =>
    Promise.all(
      processes.flatMap(({ limiter }) =>
        Array.from({ length: times }, async () => {
          if ((await limiter.take('a')).allowed) admitted++
        }),
      ),
    )
  for (let round = 0; round < 4; round++) await takeMany(100)
  for (const process of processes) {
    const next = process.next('2h')
    next.replace(process.limiter)
    process.limiter = next
    open.push(() => next.close())
  }
  await takeMany(10)
  expect(admitted).toBe(1_230)
  // leases of the new window return when they are not used
  await eventually(async () => limit - (await processes[0].limiter.peek('a')).binding.remaining <= admitted, {
    what: 'the leases',
  })
  const counted = limit - (await processes[0].limiter.peek('a')).binding.remaining
  // on a slow machine a process may report units while another one already carries the key
  expect(counted).toBeGreaterThan(admitted - 100)
}, 60_000)

test('changes during thousands of takes lose none, admit no more than the limit, and no less', async () => {
  const client = createRedis({ port: redis.server.port })
  open.push(() => client.quit())
  const backend = redisBackend(client, { prefix: 'load:' })
  const identity = {}
  const keys = Array.from({ length: 4 }, (_, index) => `key ${index}`)
  const admitted = new Map<string, number>(keys.map((key) => [key, 0]))
  let limiter = limiterOn(backend, identity, FORMS[0])
  open.push(() => limiter.close())
  let uncounted = 0
  let earlier: Promise<unknown> = Promise.resolve()
  for (let round = 1; round <= 20; round++) {
    const takes = Array.from({ length: 200 }, async (_, index) => {
      const key = keys[index % keys.length]
      const { allowed, counted } = await limiter.take(key)
      if (!counted) uncounted++
      if (allowed) admitted.set(key, (admitted.get(key) ?? 0) + 1)
    })
    const next = limiterOn(backend, identity, FORMS[round % 3])
    next.replace(limiter)
    limiter = next
    // the takes of a round are under way while those of the next one begin
    await earlier
    earlier = Promise.all(takes)
  }
  await earlier
  expect(uncounted).toBe(0)
  for (const key of keys) expect(admitted.get(key)).toBe(500)
})
