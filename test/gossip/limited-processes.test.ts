import { afterAll, expect, test } from '@jest/globals'
import { eventually } from '../services/eventually.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'

type Replica = ChildNode<typeof import('./children/limited-replica.ts')>

const LIMIT = 100
const replicas: Replica[] = []

afterAll(async () => {
  for (const replica of replicas) await replica.stop()
})

test('six processes that all know a key admit one limit, although five of them were idle when it was used up', async () => {
  for (let n = 0; n < 6; n++) replicas.push(startNode('gossip/children/limited-replica.ts'))
  const addresses = await Promise.all(
    replicas.map((replica) => replica.call('start', 'a secret of the whole fleet', LIMIT)),
  )
  await Promise.all(replicas.map((replica) => replica.call('meet', addresses)))
  const each = <T>(of: (replica: Replica) => Promise<T>): Promise<T[]> => Promise.all(replicas.map(of))
  const admitted = await each((replica) => replica.call('burst', 'a', 1))
  const leftIn = (left: number) => async () =>
    (await each((replica) => replica.call('left', 'a'))).every((one) => one === left)
  await eventually(leftIn(LIMIT - 6), { what: 'the units of all others', timeoutMs: 20_000 })
  admitted.push(await replicas[0].call('burst', 'a', LIMIT))
  // a peek takes no units and exchanges none
  await eventually(leftIn(0), { what: 'the units of the busy process', timeoutMs: 20_000 })
  admitted.push(...(await each((replica) => replica.call('burst', 'a', LIMIT))))
  expect(admitted.reduce((sum, one) => sum + one)).toBe(LIMIT)
})
