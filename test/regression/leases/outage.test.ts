import { expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { createRedis, leasedBackend } from '@sluice/redis'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { chargedOf, Member } from '../../redis/known/member.ts'
import { eventually } from '../../services/eventually.ts'
import { forTests } from '../../services/for-tests.ts'
import { startProxy } from '../../services/proxies/tcp-proxy.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const redis = redisForTests()
const path = forTests(
  () => startProxy(redis.server.port),
  (proxy) => proxy.stop(),
)

test.each<AlgorithmName>(['fixed-window', 'sliding-window', 'token-bucket', 'gcra'])(
  'with %s, spent units of leases that ended while Redis was down are charged once, and the rest is returned',
  async (algorithm) => {
    const seed = baseSeed()
    const random = seededRandom(seed)
    const options = {
      scope: `outage-${algorithm}`,
      policy: { name: 'day', limit: 1_000_000, window: '1d', algorithm } as const,
    }
    const client = createRedis(path.current.url, { retryStrategy: () => 20 })
    // short leases, so that they end soon
    const member = await new Member(client, leasedBackend(client, { leaseMs: 100 }), options).ready()
    const admin = redis.server.client()
    const leasesEnd = async (): Promise<void> => {
      const name = (await admin.keys(`*${options.scope}*:leases`))[0]
      await eventually(async () => lastEndOf(await admin.getBuffer(name)) < (await timeOf(admin)), { what: 'the end' })
    }
    const left: number[] = []
    for (let outage = 0; outage < 5; outage++) {
      await member.takeUntilCounted('key')
      await member.take('key', 1_000 + random.whole(1_000))
      const closed = new Promise((resolve) => client.once('close', resolve))
      path.current.refuse()
      path.current.cut()
      await closed
      await member.take('key', 20)
      await leasesEnd()
      path.current.accept()
      await member.takeUntilCounted('key')
      await member.limiter.peek('key')
      left.push((await chargedOf(admin, options, 'key')) - member.admitted)
    }
    await member.close()
    const charged = await chargedOf(admin, options, 'key')
    process.stdout.write(`SLUICE_SEED=${seed}: ${algorithm}, beyond what was admitted, by outages: ${left.join(' ')}, `)
    process.stdout.write(`at the end ${charged - member.admitted}\n`)
    // a little has drained from a bucket
    expect(charged - member.admitted).toBeLessThanOrEqual(0)
    expect(charged - member.admitted).toBeGreaterThanOrEqual(
      algorithm === 'token-bucket' || algorithm === 'gcra' ? -200 : 0,
    )
  },
)

function lastEndOf(leases: Buffer | null): number {
  let last = 0
  for (let at = 16; leases && at < leases.length; at += 56) last = Math.max(last, leases.readDoubleLE(at))
  return last
}

async function timeOf(admin: { time(): Promise<unknown> }): Promise<number> {
  const [seconds, micros] = (await admin.time()) as [number, number]
  return Number(seconds) * 1_000 + Number(micros) / 1_000
}
