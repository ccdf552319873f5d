import { afterAll, expect, test } from '@jest/globals'
import { eventually } from '../services/eventually.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'

type Replica = ChildNode<typeof import('./children/replica.ts')>

const REPLICAS = 8
const MESSAGES = 20
const SECRET = 'a secret of the whole fleet'
const replicas: Replica[] = []

afterAll(async () => {
  for (const replica of replicas) await replica.stop()
})

test('eight processes agree over HTTP, and a process with another secret receives nothing', async () => {
  for (let n = 0; n < REPLICAS + 1; n++) replicas.push(startNode('gossip/children/replica.ts'))
  const [stranger, ...fleet] = replicas
  const addresses = await Promise.all(fleet.map((replica) => replica.call('start', SECRET)))
  const strange = await stranger.call('start', 'a secret of somebody else')
  await Promise.all(replicas.map((replica) => replica.call('meet', [...addresses, strange])))
  const sentAt = new Map<string, number>()
  for (let n = 0; n < MESSAGES; n++) {
    const text = `message ${n}`
    sentAt.set(text, await fleet[n % REPLICAS].call('publish', text))
  }
  await stranger.call('publish', 'forged')
  // each process has the messages of all others
  const isTold = (told: ReadonlyMap<string, number>, own: number): boolean =>
    told.size === MESSAGES - Math.ceil((MESSAGES - own) / REPLICAS)
  await eventually(async () => (await Promise.all(fleet.map((replica) => replica.call('received')))).every(isTold), {
    what: 'the messages of all others',
    timeoutMs: 20_000,
  })
  const received = await Promise.all(fleet.map((replica) => replica.call('received')))
  const times = Array.from(sentAt, ([text, at]) => Math.max(...received.map((told) => (told.get(text) ?? at) - at)))
  times.sort((one, other) => one - other)
  process.stdout.write(
    `8 processes: all had a message after ${times[MESSAGES / 2]} ms (p50), ${times.at(-1)} ms (most)\n`,
  )
  expect(received.some((told) => told.has('forged'))).toBe(false)
  expect((await stranger.call('received')).size).toBe(0)
})
