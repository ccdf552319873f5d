import { expect, test } from '@jest/globals'
import type { InsightSnapshot } from '@sluice/insight'
import { eventually } from '../../services/eventually.ts'
import { endedAfterEach } from '../../services/for-tests.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { redisForTests } from '../../services/redis/redis-for-tests.ts'

const SECRET = 'a secret of all processes'

const redis = redisForTests()
const members = endedAfterEach<ChildNode<typeof import('./children/member.ts')>>((member) => member.stop())

function sums({ policies }: InsightSnapshot): [number | undefined, number | undefined] {
  return [policies[0]?.total.allowed, policies[0]?.total.denied]
}

test('each of four processes shows exact sums of all, and removes a killed process', async () => {
  for (let member = 0; member < 4; member++) members.push(startNode('insight/live/children/member.ts'))
  await Promise.all(members.map((member) => member.call('join', redis.server.url, SECRET)))
  await Promise.all(members.map((member, index) => member.call('take', 'acme', 100 + index)))
  const all = async (): Promise<boolean> => {
    const snapshots = await Promise.all(members.map((member) => member.call('snapshot')))
    return snapshots.every((one) => sums(one).join() === '400,6' && one.processes.length === members.length)
  }
  await eventually(all, { what: 'the same sums in all processes' })
  const [first] = members
  const { policies, processes, isWholeFleet } = await first.call('snapshot')
  expect(isWholeFleet).toBe(true)
  expect(policies[0].topAllowed).toEqual([{ id: 'acme', key: 'acme', count: 400, error: 0 }])
  expect(new Set(processes.map(({ pid }) => pid))).toEqual(new Set(members.map(({ pid }) => pid)))
  await members.pop()?.stop()
  await eventually(all, { what: 'three processes with the sums of four' })
})
