import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { RedisHyperLogLog } from '@sluice/sketches'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../services/redis-server.ts'
import { redisKey } from './murmur-model.ts'
import { anyKey, modestKey } from './redis-keys.ts'
import { type Key, Twins } from './redis-twins.ts'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = server.client()
})

afterAll(() => server.stop())

interface History {
  readonly key: (random: SeededRandom, among: number) => Key
  readonly steps: number
  readonly sparseMaxBytes?: number
}

/** Adds some keys at a time, and counts now and then. */
async function run(random: SeededRandom, name: string, { key, steps, sparseMaxBytes }: History): Promise<Twins> {
  const twins = new Twins(client, name, sparseMaxBytes)
  const among = random.pick([20, 400, 3_000, 100_000])
  const most = random.pick([1, 3, 30])
  for (let step = 0; step < steps; step++) {
    twins.add(Array.from({ length: 1 + random.whole(most) }, () => key(random, among)))
    if (random.whole(10) === 0) twins.count()
  }
  await twins.done()
  return twins
}

function formOf({ local }: Pick<Twins, 'local'>): string {
  return local.toBytes()[4] === 0 ? 'dense' : 'sparse'
}

describe('RedisHyperLogLog has the bytes of a real Redis', () => {
  test('after each PFADD and PFCOUNT of histories that stay sparse, in which runs are cut and joined', async () => {
    const forms = new Set<string>()
    await eachSeed(20, async (random) => {
      forms.add(formOf(await run(random, 'twin', { key: modestKey, steps: 150 })))
    })
    expect(forms).toContain('sparse')
  })

  test('after each of histories that go dense, be it by their bytes or by a rank over 32', async () => {
    const forms = new Set<string>()
    await eachSeed(10, async (random) => {
      forms.add(formOf(await run(random, 'twin', { key: anyKey, steps: 250 })))
    })
    expect(forms).toContain('dense')
  })

  test('whatever hll-sparse-max-bytes the server has', async () => {
    for (const sparseMaxBytes of [0, 16, 18, 19, 20, 21, 100, 1_000, 2_999, 20_000]) {
      await eachSeed(1, async (random) => {
        await run(random, 'twin', { key: modestKey, steps: 120, sparseMaxBytes })
      })
    }
  })

  test('of 1 to 100,000 keys, and counts as it does, within the bar that Redis sets itself', async () => {
    for (const key of [(n: number) => String(n), (n: number) => `element:${n}`]) {
      const twins = new Twins(client, 'twin')
      let n = 0
      for (let size = 1; size <= 100_000; size *= 10) {
        for (; n < size; ) twins.add(Array.from({ length: Math.min(size - n, 10_000) }, () => key(n++)))
        twins.count()
        expect(Math.abs(twins.local.count() - size)).toBeLessThanOrEqual(Math.ceil(((6 * 1.04) / 128) * size))
      }
      await twins.done()
    }
  })

  test('with each rank that a key can have: 32 is the last that stays sparse', async () => {
    for (let rank = 1; rank <= 51; rank++) {
      const twins = new Twins(client, 'twin')
      twins.add([redisKey(0, rank), redisKey(16_383, rank), redisKey(12_345, rank)])
      twins.count()
      await twins.done()
      expect({ rank, form: formOf(twins) }).toEqual({ rank, form: rank <= 32 ? 'sparse' : 'dense' })
    }
  })

  test('where a run is cut at its start, in its middle, at its end, and becomes one with its neighbours again', async () => {
    const twins = new Twins(client, 'twin')
    for (const rank of [1, 2, 3]) {
      for (const first of [0, 63, 64, 65, 1_000, 16_380]) {
        for (const register of [first + 1, first, first + 3, first + 2]) twins.add([redisKey(register, rank)])
      }
    }
    for (let register = 0; register < 300; register++) twins.add([redisKey((register * 7) % 300, 5)])
    await twins.done()
  })

  test('where a few registers side by side rise and rise, so that Redis leaves runs apart that it could join', async () => {
    await eachSeed(12, async (random) => {
      const twins = new Twins(client, 'twin')
      const first = random.pick([0, 100, 16_384 - 24])
      for (let rank = 1; rank <= 20; rank++) {
        for (let adds = 0; adds < 40; adds++) twins.add([redisKey(first + random.whole(24), rank)])
      }
      await twins.done()
    })
  })

  test('where a sparse form is longer than the server allows now: it stays until it would grow', async () => {
    const grown = new Twins(client, 'twin')
    for (let register = 0; register < 200; register += 2) grown.add([redisKey(register, 3)])
    await grown.done()
    const local = RedisHyperLogLog.fromBytes(grown.local.toBytes(), { sparseMaxBytes: 50 })
    await client.config('SET', 'hll-sparse-max-bytes', 50)
    for (const key of [redisKey(10, 4), redisKey(11, 5), redisKey(12, 5), redisKey(9_999, 5)]) {
      expect(formOf({ local })).toBe('sparse')
      local.add(key)
      await client.pfadd('twin', Buffer.from(key))
      expect(Buffer.compare(local.toBytes(), (await client.getBuffer('twin')) as Buffer)).toBe(0)
    }
    expect(formOf({ local })).toBe('dense')
  })

  test('where runs came that Redis does not write, but reads: it joins those that it looks at', async () => {
    const { header, zeros } = { header: '48594c4c010000000000000000000080', zeros: '7fef' }
    const bytes = Buffer.from(`${header}${'80'.repeat(16)}${zeros}`, 'hex')
    for (let register = 0; register < 20; register++) {
      await client.set('unjoined', bytes)
      const local = RedisHyperLogLog.fromBytes(bytes)
      for (const key of [redisKey(register, 2), redisKey((register + 5) % 16, 2)]) {
        local.add(key)
        await client.pfadd('unjoined', Buffer.from(key))
        expect(Buffer.compare(local.toBytes(), (await client.getBuffer('unjoined')) as Buffer)).toBe(0)
      }
    }
  })

  test('after PFMERGE of sparse ones, dense ones, both, into nothing and with itself', async () => {
    const sparse = { key: modestKey, steps: 60 }
    const dense = { key: anyKey, steps: 60, sparseMaxBytes: 100 }
    const nearlyDense = { key: modestKey, steps: 60, sparseMaxBytes: 500 }
    for (const ones of [sparse, dense, nearlyDense]) {
      for (const others of [sparse, dense, nearlyDense]) {
        await eachSeed(3, async (random) => {
          const other = await run(random, 'other', others)
          const one = await run(random, 'one', ones)
          one.merge(other)
          one.count()
          one.merge(one)
          one.merge(other)
          one.add(['afterwards'])
          await one.done()
          const fresh = new Twins(client, 'fresh')
          fresh.merge(other)
          await fresh.done()
        })
      }
    }
  })

  test('with registers that are nearly full, whose count no client of JavaScript reads to the last digit', async () => {
    await eachSeed(5, async (random) => {
      const local = new RedisHyperLogLog()
      const least = random.pick([38, 41, 44])
      for (let register = 0; register < 16_384; register++)
        local.add(redisKey(register, least + random.whole(52 - least)))
      await client.set('full', Buffer.from(local.toBytes()))
      await client.pfcount('full')
      expect(local.cacheCount()).toBeGreaterThan(2 ** 53)
      expect(Buffer.compare(local.toBytes(), (await client.getBuffer('full')) as Buffer)).toBe(0)
    })
  })

  test('with full registers, of which it counts -2^63', async () => {
    const local = new RedisHyperLogLog()
    for (let register = 0; register < 16_384; register++) local.add(redisKey(register, 51))
    await client.set('full', Buffer.from(local.toBytes()))
    expect(await client.pfcount('full')).toBe(-(2 ** 63))
    expect(local.cacheCount()).toBe(2 ** 63)
    expect(Buffer.compare(local.toBytes(), (await client.getBuffer('full')) as Buffer)).toBe(0)
  })
})

describe('a real Redis takes the bytes of RedisHyperLogLog', () => {
  test('by SET, and counts, adds and merges on', async () => {
    await eachSeed(10, async (random) => {
      const local = new RedisHyperLogLog()
      const size = random.pick([0, 1, 50, 1_000, 30_000])
      for (let n = 0; n < size; n++) local.add(`key ${n}`)
      await client.set('mine', Buffer.from(local.toBytes()))
      expect(await client.pfcount('mine')).toBe(local.count())
      await client.pfadd('others', 'red', 'blue')
      await client.pfmerge('mine', 'others')
      for (const key of ['red', 'blue']) local.add(key)
      expect(await client.pfcount('mine')).toBe(local.count())
    })
  })

  test('and the other way round: read from GET it goes on as the server does', async () => {
    await eachSeed(10, async (random) => {
      const steps = random.pick([1, 20, 200])
      const { name, local } = await run(random, 'twin', { key: random.pick([modestKey, anyKey]), steps })
      const read = RedisHyperLogLog.fromBytes((await client.getBuffer(name)) as Buffer)
      expect(read.count()).toBe(local.count())
      const keys = Array.from({ length: 100 }, () => `later ${random.whole(1_000)}`)
      for (const key of keys) read.add(key)
      await client.pfadd(name, ...keys)
      expect(Buffer.compare(read.toBytes(), (await client.getBuffer(name)) as Buffer)).toBe(0)
    })
  })
})
