import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'
import { NAMES } from './programs/member.ts'

type Member = ChildNode<typeof import('./programs/member.ts')>

const names = ['a', 'b', 'c']
let server: RedisServer
let members: Member[]

beforeAll(async () => {
  // everything that it acknowledged survives its crash
  server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec'] })
  members = names.map(() => startNode('redis/channel/programs/member.ts'))
  await Promise.all(
    members.map((member, at) =>
      member.call('join', {
        url: server.url,
        name: names[at],
        client: at === 0 ? 'ioredis 5' : 'ours',
        seed: baseSeed() + at,
      }),
    ),
  )
})

afterAll(async () => {
  await Promise.all(members.map((member) => member.stop()))
  await server.stop()
})

/** Waits until the running members have done this many more operations, at two per millisecond at most. */
async function worked(times: number, who: readonly Member[] = members): Promise<void> {
  const before = await Promise.all(who.map((member) => member.call('deeds')))
  await eventually(
    async () => {
      const now = await Promise.all(who.map((member) => member.call('deeds')))
      return now.every((deeds, at) => deeds >= before[at] + times)
    },
    { what: 'work' },
  )
}

const faults = {
  async stall() {
    server.pause()
    await worked(100)
    server.resume()
  },
  async longStall() {
    server.pause()
    await worked(600)
    server.resume()
  },
  async cut() {
    const admin = server.client()
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    admin.disconnect()
  },
  async crash() {
    await server.kill()
    await worked(50)
    await server.start()
  },
  async forgottenScripts() {
    const admin = server.client()
    await admin.script('FLUSH')
    admin.disconnect()
  },
  async pausedMember() {
    const [paused, ...others] = members
    paused.pause()
    await worked(200, others)
    paused.resume()
  },
}

test('processes whose Redis stalls, disconnects, crashes and loses data finally agree on exactly what was added and published', async () => {
  const random = seededRandom(baseSeed())
  const order = [...Object.values(faults), ...Object.values(faults)]
    .map((fault) => ({ fault, at: random.next() }))
    .sort((a, b) => a.at - b.at)
  for (const { fault } of order) {
    await fault()
    await worked(50)
  }
  const done = await Promise.all(members.map((member) => member.call('rest')))
  const expected = Object.fromEntries(
    NAMES.map((name) => [name, done.reduce((sum, { added }) => sum + (added[name] ?? 0), 0)]),
  )
  const agreed = async (): Promise<boolean> => {
    const views = await Promise.all(members.map((member) => member.call('known')))
    return views.every(
      ({ sums, received }, at) =>
        NAMES.every((name) => sums[name] === expected[name]) &&
        names.every((name, of) => of === at || received[name]?.length === done[of].published),
    )
  }
  await eventually(agreed, { what: 'agreement', timeoutMs: 10_000 }).catch(() => {})
  const views = await Promise.all(members.map((member) => member.call('known')))
  for (const [at, { sums, received }] of views.entries()) {
    expect(sums).toEqual(expected)
    const others = names.flatMap((name, of) =>
      of === at ? [] : [[name, Array.from({ length: done[of].published }, (_, i) => i)]],
    )
    expect(received).toEqual(Object.fromEntries(others))
  }
  await Promise.all(members.map((member) => member.call('leave')))
  const stored = await server.client().hgetall('sluice:{hits}:values')
  expect(stored).toEqual(Object.fromEntries(Object.entries(expected).map(([name, sum]) => [name, String(sum)])))
})
