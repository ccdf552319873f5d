import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../../services/eventually.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { type RedisServer, startRedis } from '../../services/redis/redis-server.ts'

type Controlled = ChildNode<typeof import('./children/controlled-process.ts')>

const SECRET = 'a secret of all processes'

let server: RedisServer
const processes: Controlled[] = []

beforeAll(async () => {
  server = await startRedis()
})

afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()))
  await server.stop()
})

function spawned(): Controlled {
  const process: Controlled = startNode('insight/control/children/controlled-process.ts')
  processes.push(process)
  return process
}

async function joined(process: Controlled): Promise<Controlled> {
  await process.call('join', server.url, SECRET)
  return process
}

/** Returns the milliseconds until all processes give this answer. */
async function until(all: readonly Controlled[], key: string, answer: string): Promise<number> {
  const since = performance.now()
  const isSo = async () => (await Promise.all(all.map((one) => one.call('take', key)))).every((got) => got === answer)
  await eventually(isSo, { what: `'${answer}' in ${all.length} processes`, timeoutMs: 20_000 })
  return performance.now() - since
}

test('a switch applies in two processes over Redis, reverts automatically, and reaches a restarted process', async () => {
  const [here, there] = [await joined(spawned()), await joined(spawned())]
  // loaded before the switch, which would end meanwhile on a busy machine
  const late = spawned()
  await late.call('load')
  await until([here, there], 'key', 'redis denied')
  await here.call('control', { action: 'mode', policy: 'api', mode: 'off', duration: '4s' })
  const heldMs = await until([here, there], 'key', 'off allowed')
  const restarted = await joined(late)
  const restartedMs = await until([restarted], 'key', 'off allowed')
  const revertedMs = await until([here, there, restarted], 'key', 'redis denied')
  const times = [heldMs, restartedMs, revertedMs].map(Math.round)
  process.stdout.write(
    `a switch: in both after ${times[0]} ms, after a restart ${times[1]} ms, reverted after ${times[2]} ms\n`,
  )
})

test('a block applies in all processes, is explained, and can be undone', async () => {
  const [here, there] = processes
  const { id } = await there.call('control', { action: 'block', key: 'villain', reason: 'scraping' })
  await until([here, there], 'villain', 'blocked denied')
  expect((await here.call('explain', 'villain'))[0]).toMatch(/^blocked for another 15 min, by code \(scraping\)$/)
  expect(await here.call('undo', id)).toBe(true)
  await until([here, there], 'villain', 'redis denied')
})
