import { expect, test } from '@jest/globals'
import { eventually } from '../services/eventually.ts'
import { calledAfterEach } from '../services/for-tests.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'
import { startRedis } from '../services/redis/redis-server.ts'

type Process = ChildNode<typeof import('./children/limited-process.ts')>

const LIMIT = 100_000
const ends = calledAfterEach()

test('units that three processes admitted while Redis did not answer are counted, up to one of each process', async () => {
  const server = await startRedis()
  ends.push(() => server.stop())
  const processes: Process[] = []
  for (let n = 0; n < 3; n++) {
    const child: Process = startNode('redis/children/limited-process.ts')
    processes.push(child)
    ends.push(() => child.stop())
    await child.call('start', server.url, LIMIT)
  }
  let admitted = 0
  /** Takes units until Redis answers the process. */
  const answered = async (process: Process, key: string): Promise<void> =>
    eventually(
      async () => {
        if (key === 'a') admitted++
        return (await process.call('source', key)) === 'redis'
      },
      { what: 'an answer of Redis' },
    )
  const busy = async (forMs: number): Promise<void> => {
    const taken = await Promise.all(processes.map((process) => process.call('taken', 'a', forMs)))
    admitted += taken.reduce((sum, one) => sum + one)
  }
  for (const process of processes) await answered(process, 'ready')
  await busy(100)
  server.pause()
  await busy(800)
  server.resume()
  for (const process of processes) await answered(process, 'a')
  await busy(100)
  // the first call of a process after the stall may report units before the reply to the last one before it arrives
  const counted = LIMIT - (await processes[0].call('left', 'a'))
  expect(Math.abs(counted - admitted)).toBeLessThanOrEqual(processes.length)
})
