import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { Warnings } from '@sluice/testkit'
import { type RunningRecipe, run } from './recipe.ts'

const warnings = new Warnings()
let recipe: RunningRecipe

beforeEach(async () => {
  // a fresh module for each test, so that counts start at zero
  jest.resetModules()
  warnings.listen()
  recipe = await run('graphql.md', 'Batches of other protocols')
})
afterEach(async () => {
  warnings.stop()
  await recipe.close()
})

async function leftAfter(path: string, body?: unknown): Promise<[status: number, left: number]> {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(recipe.url + path, { ...sent, headers: { 'content-type': 'application/json' } })
  await response.arrayBuffer()
  return [response.status, Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])]
}

test('a batch of JSON-RPC costs as many units as it has calls', async () => {
  const call = { jsonrpc: '2.0', method: 'ping', id: 1 }
  expect(await leftAfter('/rpc', call)).toEqual([200, 99])
  expect(await leftAfter('/rpc', Array(40).fill(call))).toEqual([200, 59])
  expect(await leftAfter('/rpc', [])).toEqual([200, 58])
  expect((await leftAfter('/rpc', Array(59).fill(call)))[0]).toBe(429)
})

test('a batch of tRPC costs as many units as it has procedures, however the path is written', async () => {
  expect(await leftAfter('/trpc/user.get')).toEqual([200, 99])
  expect(await leftAfter('/trpc/user.get,post.list,post.get?batch=1')).toEqual([200, 96])
  expect(await leftAfter('/trpc/user.get%2Cpost.list%2cpost.get?batch=1')).toEqual([200, 93])
  expect(await leftAfter('/trpc/%')).toEqual([200, 92])
})
