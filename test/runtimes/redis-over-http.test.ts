import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { memoryFolder } from '../services/memory-folder.ts'
import { type RedisServer, startRedis } from '../services/redis/redis-server.ts'
import { RestServer, TOKEN } from '../services/redis/rest-server.ts'
import { bundle } from './bundle.ts'
import { runtimeBinary } from './runtime-binary.ts'
import { type RunningWorker, startWorker } from './workerd.ts'

const TIMEOUT_MS = 120_000
const REQUESTS = 750

let server: RedisServer
let rest: RestServer
let worker: RunningWorker

beforeAll(async () => {
  server = await startRedis()
  rest = await RestServer.start(server.port)
  const { text } = await bundle('programs/redis-limit-worker.ts', {
    // as wrangler does: Workers have the modules of Node.js under both names
    external: ['node:*', 'cloudflare:*', ...builtinModules],
  })
  worker = await startWorker({
    text,
    texts: { REST_URL: rest.url, REST_TOKEN: TOKEN },
    workers: 2,
  })
}, TIMEOUT_MS)

afterAll(async () => {
  await worker.stop()
  await rest.stop()
  await server.stop()
})

async function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(url, { headers })
  await response.arrayBuffer()
  return response.status
}

function countOf(statuses: readonly number[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test(
  'two Workers together admit exactly the limit in Redis over HTTP',
  async () => {
    const ask = async (url: string): Promise<number[]> => {
      const statuses: number[] = []
      for (let sent = 0; sent < REQUESTS / 10; sent++) {
        statuses.push(await statusOf(`${url}/limited`, { 'cf-connecting-ip': '192.0.2.1' }))
      }
      return statuses
    }
    const callers = worker.urls.flatMap((url) => Array.from({ length: 10 }, () => ask(url)))
    const statuses = (await Promise.all(callers)).flat()
    expect([countOf(statuses), worker.output()]).toEqual([{ 200: 1_000, 429: 2 * REQUESTS - 1_000 }, expect.anything()])
  },
  TIMEOUT_MS,
)

test(
  'two Workers together admit no more than a cap in Redis, and release the places after their responses',
  async () => {
    const ask = async (url: string): Promise<{ status: number; working: number }[]> => {
      const answers = []
      for (let sent = 0; sent < 15; sent++) {
        const response = await fetch(`${url}/capped`, { headers: { 'cf-connecting-ip': '192.0.2.1' } })
        const { working = 0 } = (await response.json()) as { readonly working?: number }
        answers.push({ status: response.status, working })
      }
      return answers
    }
    const answers = (await Promise.all(worker.urls.flatMap((url) => Array(4).fill(url).map(ask)))).flat()
    const counts = countOf(answers.map(({ status }) => status))
    expect(Object.keys(counts)).toEqual(['200', '503'])
    expect(counts[200]).toBeGreaterThan(15)
    expect(Math.max(...answers.map(({ working }) => working))).toBe(3)
    const names = await server.client().keys('*inflight*')
    expect([names, worker.output()]).toEqual([[], expect.anything()])
  },
  TIMEOUT_MS,
)

test('what shares calls between requests is refused when a Worker starts', async () => {
  const response = await fetch(worker.url)
  expect(await response.json()).toEqual(Array(4).fill('SLUICE_BAD_OPTION'))
})

test.each([
  ['Deno', 'deno', ['run', '--allow-all', '--no-config', '--no-lock']],
  ['Bun', 'bun', ['run']],
] as const)(
  '%s counts in Redis over HTTP',
  async (_name, runtime, args) => {
    await server.client().flushall()
    const { text } = await bundle('programs/redis-over-http.ts', { external: ['node:*', ...builtinModules] })
    const path = join(memoryFolder('sluice-runtime-'), 'program.mjs')
    writeFileSync(path, text)
    const { stdout } = await promisify(execFile)(runtimeBinary(runtime), [...args, path, rest.url, TOKEN])
    expect(JSON.parse(stdout)).toEqual([true, true, true, false, false])
  },
  TIMEOUT_MS,
)
