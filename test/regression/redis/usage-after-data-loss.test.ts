import { describe, expect, test } from '@jest/globals'
import type { AlgorithmName } from '@sluice/limiter-core'
import { createRedis, redisBackend } from '@sluice/redis'
import { numberOfRuns } from '@sluice/testkit'
import { algorithmNames } from '../../algorithms/any-policy.ts'
import { chargedOf, Member, type MemberOptions } from '../../redis/known/member.ts'
import { eventually } from '../../services/eventually.ts'
import { calledAfterEach } from '../../services/for-tests.ts'
import { startProxy } from '../../services/proxies/tcp-proxy.ts'
import { startRedis } from '../../services/redis/redis-server.ts'

/** `npm test` takes two of them. */
const algorithms = algorithmNames.slice(0, numberOfRuns(algorithmNames.length))
const ends = calledAfterEach()

function optionsOf(algorithm: AlgorithmName): MemberOptions {
  return { scope: 'births', policy: { name: 'hour', limit: 120, window: '1h', algorithm } }
}

/** A primary, a replica behind its own network path, and the address at which processes find the current primary. */
async function pairOfServers() {
  const master = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] })
  const link = await startProxy(master.port)
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(link.port)] })
  const address = await startProxy(master.port)
  for (const one of [master, link, replica, address]) ends.push(() => one.stop())
  const admin = replica.client()
  await eventually(async () => (await admin.info('replication')).includes('master_link_status:up'), {
    what: 'a replica in step',
  })
  const promote = async (): Promise<void> => {
    await admin.replicaof('NO', 'ONE')
    address.retarget(replica.port)
    await master.kill()
    address.cut()
  }
  return { master, link, replica, address, promote }
}

async function member(url: string, options: MemberOptions): Promise<Member> {
  const client = createRedis(url, { retryStrategy: () => 20 })
  const made = await new Member(client, redisBackend(client), options).ready()
  ends.push(() => made.close())
  return made
}

describe.each(algorithms)('a promoted replica, with %s', (algorithm) => {
  test('receives the usage that it lacks, and nothing that was reset or refunded', async () => {
    const options = optionsOf(algorithm)
    const { master, link, replica, address, promote } = await pairOfServers()
    const [one, other] = [await member(address.url, options), await member(address.url, options)]
    const reserved = await other.limiter.take('given back', 30)
    for (const key of ['given back', 'reset', 'lost']) await one.take(key, 10)
    await other.limiter.charge('given back', -29, reserved)
    await other.limiter.reset('reset')
    // WAIT covers writes of its own connection: first everything is replicated, then nothing more
    const witness = master.client()
    await witness.set('written last', 1)
    expect(await witness.wait(1, 10_000)).toBe(1)
    link.blackHole()
    await one.take('lost', 50)
    await promote()
    one.admitted = 0
    await one.takeUntilCounted('lost')
    const client = replica.client()
    const charged = (key: string): Promise<number> => chargedOf(client, options, key)
    const sinceLost = one.admitted
    for (const key of ['given back', 'reset', 'lost']) await one.take(key, 1, 0)
    // a fraction of a unit has been refilled in a bucket by now, and another fraction counts as a whole unit
    expect(Math.abs((await charged('lost')) - 60 - sinceLost)).toBeLessThanOrEqual(1)
    expect(Math.abs((await charged('given back')) - 11)).toBeLessThanOrEqual(1)
    expect(await charged('reset')).toBeLessThanOrEqual(1)
  })
})

describe.each(algorithms)('a server that restarts empty, with %s', (algorithm) => {
  test('frees no key, even if other processes were refunded there before usage was reported', async () => {
    const options = optionsOf(algorithm)
    const server = await startRedis()
    ends.push(() => server.stop())
    const [one, other] = [await member(server.url, options), await member(server.url, options)]
    await other.take('key', 1)
    await one.take('key', 118)
    await server.kill()
    await server.start()
    other.admitted = 0
    await other.takeUntilCounted('key')
    const reserved = await other.limiter.take('key', 1)
    await other.limiter.charge('key', -1, reserved)
    expect(reserved).toMatchObject({ allowed: true, counted: true })
    one.admitted = 0
    await one.takeUntilCounted('key')
    await one.take('key', 5)
    expect(one.admitted).toBeLessThanOrEqual(2)
    const charged = await chargedOf(server.client(), options, 'key')
    expect(charged).toBe(120)
  })

  test('or was flushed receives from each process the usage of all, in addition to its counts since', async () => {
    const options = optionsOf(algorithm)
    const server = await startRedis()
    ends.push(() => server.stop())
    const [one, other] = [await member(server.url, options), await member(server.url, options)]
    await one.take('key', 30)
    await other.take('key', 30)
    await server.client().flushall()
    await Promise.all([one.reconnect(), other.reconnect()])
    for (const process of [one, other]) await process.takeUntilCounted('of the connection')
    // the process with less usage is first
    await one.take('key', 10)
    await other.take('key', 10)
    const charged = await chargedOf(server.client(), options, 'key')
    expect(Math.abs(charged - 80)).toBeLessThanOrEqual(1)
  })

  test('receives nothing that was reset there', async () => {
    const options = optionsOf(algorithm)
    const server = await startRedis()
    ends.push(() => server.stop())
    const [one, other] = [await member(server.url, options), await member(server.url, options)]
    await one.take('key', 50)
    await server.kill()
    await server.start()
    await other.takeUntilCounted('of the connection')
    await other.limiter.reset('key')
    await one.takeUntilCounted('of the connection')
    one.admitted = 0
    await one.take('key', 3)
    const charged = await chargedOf(server.client(), options, 'key')
    expect(Math.abs(charged - 3)).toBeLessThanOrEqual(1)
  })
})
