import { copyFileSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import request from 'supertest'
import { createApp, type PolicyApp } from '../../examples/policies/src/app.ts'
import { root } from '../repository.ts'
import { eventually } from '../services/eventually.ts'

const FILE = join(root, 'examples/policies/policies.yaml')
let file: string
let api: PolicyApp

beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), 'sluice-policies-')), 'policies.yaml')
  copyFileSync(FILE, file)
  api = createApp(file)
})

afterEach(() => api.policies.close())

const get = (path: string, key?: string, headers: Record<string, string> = {}) =>
  request(api.app)
    .get(path)
    .set({ ...headers, ...(key !== undefined && { 'x-api-key': key }) })

test('the plan of a customer decides its limit, and visitors count by address', async () => {
  const allowed = async (path: string, key?: string): Promise<number> => {
    for (let sent = 0; ; sent++) if ((await get(path, key)).status === 429) return sent
  }
  expect(await allowed('/', 'key-free')).toBe(5)
  expect(await allowed('/')).toBe(5)
  expect(await allowed('/search?q=tea', 'key-free')).toBe(2)
  expect(await allowed('/search?q=tea', 'key-pro')).toBe(20)
})

test('an internal search is counted as a request, by its condition', async () => {
  for (let sent = 0; sent < 4; sent++) {
    expect((await get('/search?q=tea', 'key-free', { 'x-internal': 'true' })).status).toBe(200)
  }
})

test('the measured time is charged after the response', async () => {
  await get('/search?q=tea', 'key-enterprise')
  const { headers } = await get('/search?q=tea', 'key-enterprise')
  const left = Number(/"db-time";r=(\d+)/.exec(headers.ratelimit)?.[1])
  // 20 ms are reserved for the second search, and the first one took its real time
  expect(left).toBeLessThan(2_000 - 20)
})

test('a change of the file applies to the running API, and counts stay', async () => {
  for (let sent = 0; sent < 5; sent++) expect((await get('/', 'key-free')).status).toBe(200)
  expect((await get('/', 'key-free')).status).toBe(429)
  const changed = readFileSync(file, 'utf8').replace('free: 5', 'free: 7')
  writeFileSync(`${file}.next`, changed)
  renameSync(`${file}.next`, file)
  await eventually(async () => (await get('/', 'key-free')).status === 200, { what: 'the larger limit' })
  expect((await get('/', 'key-free')).status).toBe(200)
  expect((await get('/', 'key-free')).status).toBe(429)
})

test('an address that is denied again and again is banned', async () => {
  const banned = readFileSync(file, 'utf8').replace('limit: 100', 'limit: 3').replace('after: 20', 'after: 2')
  writeFileSync(`${file}.next`, banned)
  renameSync(`${file}.next`, file)
  const denial = async (): Promise<number | undefined> => {
    const { status, headers, body } = await get('/', 'key-enterprise')
    return status === 429 && body['violated-policies'].includes('abuse') ? Number(headers['retry-after']) : undefined
  }
  await eventually(async () => ((await denial()) ?? 0) > 500, { what: 'the ban' })
  expect(await denial()).toBeLessThanOrEqual(600)
})
