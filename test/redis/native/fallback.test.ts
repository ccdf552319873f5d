import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Backend, type Clock, type Decision, type Policy, systemClock } from '@sluice/limiter-core/backend'
import { leasedBackend, type RedisClient, redisBackend, type ScriptRunner, scriptRunner } from '@sluice/redis'
import { eventually } from '../../services/eventually.ts'
import { type IncrexProxy, startIncrexProxy } from '../../services/redis/increx-proxy.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'
import { chargeOf, remaining } from '../exact/charge.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

const minute: Policy = { name: 'minute', algorithm: 'fixed-window', limit: 5, windowMs: 60_000 }
const beside: Policy = { name: 'beside', algorithm: 'token-bucket', limit: 50, windowMs: 60_000 }

const redis = redisForTests()
let proxy: IncrexProxy
let prefix: string
let shiftMs: number
const clock: Clock = { ...systemClock, now: () => systemClock.now() + shiftMs }
let made: Backend[]

beforeEach(async () => {
  proxy = await startIncrexProxy(redis.server.port)
  prefix = ownPrefix()
  shiftMs = 0
  made = []
})

afterEach(async () => {
  for (const backend of made) await backend.close?.()
  await proxy.stop()
})

/** Creates the backend of a process that is connected to the server through the proxy. */
async function process(nativeCommands: boolean, wrap?: (client: RedisClient) => ScriptRunner): Promise<Backend> {
  const client = redis.server.client({ port: proxy.port })
  await client.ping()
  const backend = redisBackend(wrap?.(client) ?? client, { prefix, clock, nativeCommands })
  made.push(backend)
  // the first call reads the clock of the server
  await take(backend, 'first')
  return backend
}

function take(backend: Backend, key: string, cost = 1): Promise<Decision> {
  const { counter } = chargeOf(backend, minute, key)
  return counter.take(key, cost, { deadlineAt: clock.now() + 5_000 }) as Promise<Decision>
}

function stored(key: string): Promise<string | null> {
  return redis.server.client().get(`${prefix}:{${key}}:exact/minute/fixed-window@1/60000`)
}

async function commandsOf(run: () => Promise<unknown>): Promise<number> {
  const before = proxy.received
  await run()
  return proxy.received - before
}

describe('a take of one fixed window', () => {
  test('is one command, whose value is the number of used units', async () => {
    const backend = await process(true)
    expect(await commandsOf(() => take(backend, 'a', 2))).toBe(1)
    expect(await stored('a')).toBe('2')
    const decision = await take(backend, 'a', 3)
    expect(decision).toMatchObject({ allowed: true, counted: true, source: 'redis', retryAfterMs: 0 })
    expect(decision.binding.remaining).toBe(0)
    const denied = await take(backend, 'a')
    expect(denied.allowed).toBe(false)
    expect(denied.retryAfterMs).toBeGreaterThan(30_000)
    expect(denied.retryAfterMs).toBeLessThanOrEqual(60_000)
    expect(await take(backend, 'a', 6)).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
    expect(await stored('a')).toBe('5')
  })

  test('shares a write with the other takes of its turn, if a reply is pending', async () => {
    const sent: number[] = []
    const over = (client: RedisClient): ScriptRunner => {
      const runner = scriptRunner(client)
      return {
        run: (...call) => runner.run(...call),
        sendCommands(commands) {
          sent.push(commands.length)
          return runner.sendCommands?.(commands)
        },
      }
    }
    const backend = await process(true, over)
    const decisions = await Promise.all(['a', 'b', 'a', 'c', 'a'].map((key) => take(backend, key, 2)))
    expect(sent).toEqual([2, 8])
    expect(decisions.map(({ binding, allowed }) => [allowed, binding.remaining])).toEqual([
      [true, 3],
      [true, 3],
      [true, 1],
      [true, 3],
      [false, 1],
    ])
  })

  test('can be refunded at once, however often', async () => {
    const backend = await process(true)
    for (let time = 0; time < 100; time++) {
      const { takenAt } = await take(backend, `refund ${time}`)
      const charge = chargeOf(backend, minute, `refund ${time}`, -1)
      const { verdicts } = await backend.adjustAll([charge], takenAt)
      expect(verdicts[0].remaining).toBe(5)
      expect(await stored(`refund ${time}`)).toBeNull()
    }
  })

  test('uses a script once a second, to learn the time of the server', async () => {
    const backend = await process(true)
    shiftMs += 900
    expect(await commandsOf(() => take(backend, 'a'))).toBe(1)
    shiftMs += 200
    expect(await commandsOf(() => take(backend, 'a'))).toBe(0)
    expect(await commandsOf(() => take(backend, 'a'))).toBe(1)
    expect(await stored('a')).toBe('3')
  })

  test('without a deadline uses a command as soon as the time of the server is known', async () => {
    const client = redis.server.client({ port: proxy.port })
    await client.ping()
    const backend = redisBackend(client, { prefix, nativeCommands: true })
    made.push(backend)
    const charge = chargeOf(backend, minute, 'a', 0)
    await eventually(
      async () => {
        await backend.takeAll([{ ...charge, cost: 1 }])
        return proxy.received > 0
      },
      { what: 'a command' },
    )
  })

  test('uses a script with several policies, prior usage, a short or fractional window, or another algorithm', async () => {
    const backend = await process(true)
    const known = { used: 3, resetAfterMs: 5_000 }
    const one = chargeOf(backend, minute, 'a')
    const commands = await commandsOf(async () => {
      await backend.takeAll([one, chargeOf(backend, beside, 'a')])
      await backend.takeAll([{ ...one, known }])
      await backend.takeAll([{ ...one, advisory: true }])
      await backend.takeAll([chargeOf(backend, beside, 'a')])
      await backend.takeAll([chargeOf(backend, { ...minute, windowMs: 500 }, 'a')])
      await backend.takeAll([chargeOf(backend, { ...minute, windowMs: 1_000.5 }, 'a')])
    })
    expect(commands).toBe(0)
    expect(await stored('a')).toBe('5')
  })

  test('uses a script over a client that cannot send commands', async () => {
    const over = (client: RedisClient): ScriptRunner => ({ run: (...call) => scriptRunner(client).run(...call) })
    const backend = await process(true, over)
    expect(await commandsOf(() => take(backend, 'a'))).toBe(0)
    expect(await stored('a')).toBe('1')
    const client = redis.server.client({ port: proxy.port, keyPrefix: 'own:' })
    await client.ping()
    const prefixed = redisBackend(client, { prefix, nativeCommands: true })
    made.push(prefixed)
    await take(prefixed, 'a')
    expect(await commandsOf(() => take(prefixed, 'a'))).toBe(0)
  })

  test('fails for a value that is not a count, and for one that never expires', async () => {
    const backend = await process(true)
    const [list, endless] = ['list', 'endless'].map((key) => `${prefix}:{${key}}:exact/minute/fixed-window@1/60000`)
    await redis.server.client().lpush(list, 'a')
    await redis.server.client().set(endless, '5')
    await expect(take(backend, 'list')).rejects.toMatchObject({ code: 'WRONGTYPE' })
    await expect(take(backend, 'endless')).rejects.toMatchObject({ code: 'WRONGTYPE' })
  })
})

describe('a server without the command', () => {
  test('counts the same value by scripts, and is asked for the command again after a minute', async () => {
    const backend = await process(true)
    await take(backend, 'a')
    proxy.hasCommand = false
    expect(await commandsOf(() => take(backend, 'a'))).toBe(1)
    expect(await commandsOf(() => take(backend, 'a'))).toBe(0)
    expect(await stored('a')).toBe('3')
    proxy.hasCommand = true
    shiftMs += 61_000
    await take(backend, 'first')
    expect(await commandsOf(() => take(backend, 'a'))).toBe(1)
    expect(await stored('a')).toBe('4')
  })
})

describe('a server that refuses', () => {
  test.each([
    ['the form of the command', 'ERR syntax error'],
    ['the user', "NOPERM User app has no permissions to run the 'increx' command"],
  ])('%s counts by scripts', async (_, refusal) => {
    const backend = await process(true)
    proxy.refusals.set('INCREX', refusal)
    await take(backend, 'a')
    expect(await commandsOf(() => take(backend, 'a'))).toBe(0)
    expect(await stored('a')).toBe('2')
  })

  test.each(['OOM command not allowed', 'READONLY You cannot write', 'LOADING the dataset'])(
    'all writes rejects the take: %s',
    async (refusal) => {
      const backend = await process(true)
      proxy.refusals.set('INCREX', refusal)
      const [code] = refusal.split(' ')
      await expect(take(backend, 'a')).rejects.toMatchObject({ code, mayHaveCounted: false })
      expect(await stored('a')).toBeNull()
    },
  )

  test('to return the end of the window rejects the take, which may have been counted', async () => {
    const backend = await process(true)
    proxy.refusals.set('PEXPIRETIME', "NOPERM User app has no permissions to run the 'pexpiretime' command")
    await expect(take(backend, 'a')).rejects.toMatchObject({ code: 'NOPERM', mayHaveCounted: true })
    expect(await commandsOf(() => take(backend, 'a'))).toBe(0)
    expect(await stored('a')).toBe('2')
  })
})

describe('processes with and without native commands', () => {
  test('share each count', async () => {
    const [native, scripts] = [await process(true), await process(false)]
    // an integer stays an integer
    await take(native, 'a', 2)
    await take(scripts, 'a', 2)
    expect(await stored('a')).toBe('4')
    // cells become an integer
    await take(scripts, 'b', 2)
    await take(native, 'b', 2)
    expect(await stored('b')).toBe('4')
    for (const backend of [native, scripts]) {
      expect(await remaining(backend, minute, 'a')).toBe(1)
      expect(await remaining(backend, minute, 'b')).toBe(1)
    }
    const both = Array.from({ length: 20 }, (_, index) => take(index % 2 === 0 ? native : scripts, 'c'))
    const allowed = (await Promise.all(both)).filter((decision) => decision.allowed)
    expect(allowed).toHaveLength(5)
  })
})

describe('a process that leases units', () => {
  test('leases what native commands have left', async () => {
    const hour: Policy = { name: 'hour', algorithm: 'fixed-window', limit: 1_000, windowMs: 3_600_000 }
    const native = await process(true)
    const leased = leasedBackend(redis.server.client(), { prefix, clock })
    const spend = async (backend: Backend, units: number): Promise<number> => {
      const { counter } = chargeOf(backend, hour, 'a')
      let allowed = 0
      for (let unit = 0; unit < units; unit++) {
        const decision = await counter.take('a', 1, { deadlineAt: clock.now() + 5_000 })
        if ((decision as Decision).allowed) allowed++
      }
      return allowed
    }
    expect(await spend(native, 400)).toBe(400)
    expect(await spend(leased, 100)).toBe(100)
    await leased.close?.()
    expect(await redis.server.client().get(`${prefix}:{a}:exact/hour/fixed-window@1/3600000`)).toBe('500')
    expect(await spend(native, 600)).toBe(500)
  })
})

describe('a command that reaches the server after its deadline', () => {
  test('counts no more than what was in flight during stalls', async () => {
    const many: Policy = { ...minute, name: 'many', limit: 10_000 }
    const backend = await process(true)
    const counter = chargeOf(backend, many, 'a').counter
    let [sent, acknowledged] = [0, 0]
    const takes = (count: number, deadlineAt: number) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          sent++
          const { counted } = (await counter.take('a', 1, { deadlineAt })) as Decision
          if (counted && clock.now() <= deadlineAt) acknowledged++
        }),
      )
    for (let stall = 0; stall < 5; stall++) {
      await takes(20, clock.now() + 5_000)
      const deadlineAt = clock.now() + 20
      redis.server.pause()
      const late = takes(30, deadlineAt)
      try {
        await eventually(async () => clock.now() > deadlineAt + 5, { what: 'the deadline' })
      } finally {
        redis.server.resume()
      }
      await late
    }
    const counted = 10_000 - (await remaining(backend, many, 'a'))
    expect(acknowledged).toBe(100)
    expect(counted).toBeGreaterThan(acknowledged)
    expect(counted).toBeLessThanOrEqual(sent)
  })

  test('is counted, unlike a script', async () => {
    const [native, scripts] = [await process(true), await process(false)]
    const deadlineAt = clock.now() + 20
    redis.server.pause()
    const taken = Promise.allSettled([
      chargeOf(native, minute, 'a').counter.take('a', 1, { deadlineAt }),
      chargeOf(scripts, minute, 'b').counter.take('b', 1, { deadlineAt }),
    ])
    try {
      await eventually(async () => clock.now() > deadlineAt + 5, { what: 'the deadline' })
    } finally {
      redis.server.resume()
    }
    await taken
    expect(await remaining(native, minute, 'a')).toBe(4)
    expect(await remaining(scripts, minute, 'b')).toBe(5)
  })
})
