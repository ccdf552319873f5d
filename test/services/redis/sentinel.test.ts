import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { type Sentinel, startSentinel } from './sentinel.ts'

let sentinel: Sentinel

beforeAll(async () => {
  sentinel = await startSentinel()
})

afterAll(() => sentinel?.stop())

test('clients find the master, and its replica after the master was killed', async () => {
  const client = sentinel.client()
  await client.set('kept', 'here')
  await client.wait(2, 5_000)
  const before = await sentinel.master()
  expect(before).toBe(sentinel.nodes[0])
  await before.kill()
  await eventually(async () => (await sentinel.master()) !== before, { what: 'a new master' })
  await eventually(async () => (await sentinel.client().role())[0] === 'master', { what: 'a promoted replica' })
  expect(await client.get('kept')).toBe('here')
})
