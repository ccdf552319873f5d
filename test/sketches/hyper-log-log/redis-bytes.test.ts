import { describe, expect, test } from '@jest/globals'
import { RedisHyperLogLog } from '@sluice/sketches'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { redisKey } from './murmur-model.ts'
import { anyKey, modestKey } from './redis-keys.ts'
import { type Key, Twins } from './redis-twins.ts'

const redis = redisClientForTests()

interface History {
  readonly key: (random: SeededRandom, among: number) => Key
  readonly steps: number
  readonly sparseMaxBytes?: number
}

/** Adds a few keys at a time, and counts from time to time. */
async function run(random: SeededRandom, name: string, { key, steps, sparseMaxBytes }: History): Promise<Twins> {
  const twins = new Twins(redis.client, name, sparseMaxBytes)
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

describe('RedisHyperLogLog has the same bytes as real Redis', () => {
  test('after each PFADD and PFCOUNT of histories that stay sparse, in which runs are split and joined', async () => {
    const forms = new Set<string>()
    await eachSeed(20, async (random) => {
      forms.add(formOf(await run(random, 'twin', { key: modestKey, steps: 150 })))
    })
    expect(forms).toContain('sparse')
  })

  test('after each step of histories that become dense, by their length or by a rank over 32', async () => {
    const forms = new Set<string>()
    await eachSeed(25, async (random) => {
      forms.add(formOf(await run(random, 'twin', { key: anyKey, steps: 250 })))
    })
    expect(forms).toContain('dense')
  })

  test('for any hll-sparse-max-bytes of the server', async () => {
    for (const sparseMaxBytes of [0, 16, 18, 19, 20, 21, 100, 1_000, 2_999, 20_000]) {
      await eachSeed(1, async (random) => {
        await run(random, 'twin', { key: modestKey, steps: 120, sparseMaxBytes })
      })
    }
  })

  test('for 1 to 100,000 keys, with the same counts, within the error that the tests of Redis accept', async () => {
    for (const key of [(n: number) => String(n), (n: number) => `element:${n}`]) {
      const twins = new Twins(redis.client, 'twin')
      let n = 0
      for (let size = 1; size <= 100_000; size *= 10) {
        for (; n < size; ) twins.add(Array.from({ length: Math.min(size - n, 10_000) }, () => key(n++)))
        twins.count()
        expect(Math.abs(twins.local.count() - size)).toBeLessThanOrEqual(Math.ceil(((6 * 1.04) / 128) * size))
      }
      await twins.done()
    }
  })

  test('for each possible rank: 32 is the last rank that stays sparse', async () => {
    for (let rank = 1; rank <= 51; rank++) {
      const twins = new Twins(redis.client, 'twin')
      twins.add([redisKey(0, rank), redisKey(16_383, rank), redisKey(12_345, rank)])
      twins.count()
      await twins.done()
      expect({ rank, form: formOf(twins) }).toEqual({ rank, form: rank <= 32 ? 'sparse' : 'dense' })
    }
  })

  test('if a run is split at its start, in its middle or at its end, and joined with its neighbours again', async () => {
    const twins = new Twins(redis.client, 'twin')
    for (const rank of [1, 2, 3]) {
      for (const first of [0, 63, 64, 65, 1_000, 16_380]) {
        for (const register of [first + 1, first, first + 3, first + 2]) twins.add([redisKey(register, rank)])
      }
    }
    for (let register = 0; register < 300; register++) twins.add([redisKey((register * 7) % 300, 5)])
    await twins.done()
  })

  test('if a few adjacent registers keep rising, so that Redis leaves runs apart that it could join', async () => {
    await eachSeed(12, async (random) => {
      const twins = new Twins(redis.client, 'twin')
      const first = random.pick([0, 100, 16_384 - 24])
      for (let rank = 1; rank <= 20; rank++) {
        for (let adds = 0; adds < 40; adds++) twins.add([redisKey(first + random.whole(24), rank)])
      }
      await twins.done()
    })
  })

  test('if a sparse form is longer than the server now allows: it stays sparse until it would grow', async () => {
    const grown = new Twins(redis.client, 'twin')
    for (let register = 0; register < 200; register += 2) grown.add([redisKey(register, 3)])
    await grown.done()
    const local = RedisHyperLogLog.fromBytes(grown.local.toBytes(), { sparseMaxBytes: 50 })
    await redis.client.config('SET', 'hll-sparse-max-bytes', 50)
    for (const key of [redisKey(10, 4), redisKey(11, 5), redisKey(12, 5), redisKey(9_999, 5)]) {
      expect(formOf({ local })).toBe('sparse')
      local.add(key)
      await redis.client.pfadd('twin', Buffer.from(key))
      expect(Buffer.compare(local.toBytes(), (await redis.client.getBuffer('twin')) as Buffer)).toBe(0)
    }
    expect(formOf({ local })).toBe('dense')
  })

  test('if it reads runs that Redis does not write: it joins the runs that it visits', async () => {
    const { header, zeros } = { header: '48594c4c010000000000000000000080', zeros: '7fef' }
    const bytes = Buffer.from(`${header}${'80'.repeat(16)}${zeros}`, 'hex')
    for (let register = 0; register < 20; register++) {
      await redis.client.set('unjoined', bytes)
      const local = RedisHyperLogLog.fromBytes(bytes)
      for (const key of [redisKey(register, 2), redisKey((register + 5) % 16, 2)]) {
        local.add(key)
        await redis.client.pfadd('unjoined', Buffer.from(key))
        expect(Buffer.compare(local.toBytes(), (await redis.client.getBuffer('unjoined')) as Buffer)).toBe(0)
      }
    }
  })

  test('after PFMERGE of sparse and dense sketches, into an empty one and with itself', async () => {
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
          const fresh = new Twins(redis.client, 'fresh')
          fresh.merge(other)
          await fresh.done()
        })
      }
    }
  })

  test('with registers that are nearly full, whose count exceeds the number precision of JavaScript', async () => {
    await eachSeed(5, async (random) => {
      const local = new RedisHyperLogLog()
      const least = random.pick([38, 41, 44])
      for (let register = 0; register < 16_384; register++)
        local.add(redisKey(register, least + random.whole(52 - least)))
      await redis.client.set('full', Buffer.from(local.toBytes()))
      await redis.client.pfcount('full')
      expect(local.cacheCount()).toBeGreaterThan(2 ** 53)
      expect(Buffer.compare(local.toBytes(), (await redis.client.getBuffer('full')) as Buffer)).toBe(0)
    })
  })

  test('with full registers, whose count Redis reports as -2^63', async () => {
    const local = new RedisHyperLogLog()
    for (let register = 0; register < 16_384; register++) local.add(redisKey(register, 51))
    await redis.client.set('full', Buffer.from(local.toBytes()))
    expect(await redis.client.pfcount('full')).toBe(-(2 ** 63))
    expect(local.cacheCount()).toBe(2 ** 63)
    expect(Buffer.compare(local.toBytes(), (await redis.client.getBuffer('full')) as Buffer)).toBe(0)
  })
})

describe('real Redis accepts the bytes of RedisHyperLogLog', () => {
  test('by SET, and continues to count, add and merge', async () => {
    await eachSeed(10, async (random) => {
      const local = new RedisHyperLogLog()
      const size = random.pick([0, 1, 50, 1_000, 30_000])
      for (let n = 0; n < size; n++) local.add(`key ${n}`)
      await redis.client.set('mine', Buffer.from(local.toBytes()))
      expect(await redis.client.pfcount('mine')).toBe(local.count())
      await redis.client.pfadd('others', 'red', 'blue')
      await redis.client.pfmerge('mine', 'others')
      for (const key of ['red', 'blue']) local.add(key)
      expect(await redis.client.pfcount('mine')).toBe(local.count())
    })
  })

  test('and RedisHyperLogLog accepts the bytes of GET, and continues like the server', async () => {
    await eachSeed(10, async (random) => {
      const steps = random.pick([1, 20, 200])
      const { name, local } = await run(random, 'twin', { key: random.pick([modestKey, anyKey]), steps })
      const read = RedisHyperLogLog.fromBytes((await redis.client.getBuffer(name)) as Buffer)
      expect(read.count()).toBe(local.count())
      const keys = Array.from({ length: 100 }, () => `later ${random.whole(1_000)}`)
      for (const key of keys) read.add(key)
      await redis.client.pfadd(name, ...keys)
      expect(Buffer.compare(read.toBytes(), (await redis.client.getBuffer(name)) as Buffer)).toBe(0)
    })
  })
})
