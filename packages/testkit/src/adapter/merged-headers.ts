import assert from 'node:assert/strict'
import { byHeader } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type LimiterSpec, type RateOptions, rate } from './stage/app-description.ts'
import { Gate, type Stage } from './stage/stage.ts'
import { type ListItem, parseList } from './stage/structured-list.ts'
import { until } from './stage/until.ts'

/** Merged headers of several limiters on one request. */
export function mergedHeaders({ describe, test }: TestRunner, stage: Stage): void {
  describe('several limiters on one request', () => {
    test('produce one valid list per field', () => listed(stage))
    test('list only the denied items once one denies, and all policies', () => deniedListed(stage))
    test('remove the headers of those that admitted if the one that denies writes no headers', () =>
      deniedUnlisted(stage))
    test('show the policy closest to its limit in legacy headers', () => legacyMerged(stage))
    test('list only a full cap after a limiter that admitted', () => capListed(stage))
  })
  describe('an infinite wait', () => {
    test('has neither Retry-After nor t if the cost can never fit', () => neverFits(stage))
    test('has neither Retry-After nor t if the key source denies', () => keyDenies(stage))
  })
}

const WIDE = { name: 'wide', limit: 10, window: '1h' } as const
const NARROW = { name: 'nar,"row', limit: 1, window: '1m' } as const

function limit(stage: Stage, options: Partial<RateOptions>): LimiterSpec {
  return rate({ algorithm: 'fixed-window', clock: stage.clock, ...options } as RateOptions)
}

function numbers(field: string | undefined): [string, ListItem['params']][] {
  return parseList(field ?? '').map(({ name, params }) => [name, { ...params }])
}

const POLICIES = [
  ['wide', { q: 10, w: 3_600 }],
  ['nar,"row', { q: 1, w: 60 }],
]

async function listed(stage: Stage): Promise<void> {
  const site = await stage.behind([limit(stage, WIDE), limit(stage, NARROW)])
  const { headers } = await site.ask()
  assert.deepEqual(numbers(headers['ratelimit-policy']), POLICIES)
  assert.deepEqual(numbers(headers.ratelimit), [
    ['wide', { r: 9, t: 3_600 }],
    ['nar,"row', { r: 0, t: 60 }],
  ])
}

async function deniedListed(stage: Stage): Promise<void> {
  const site = await stage.behind([limit(stage, WIDE), limit(stage, NARROW)])
  await site.ask()
  const { status, headers, body } = await site.ask()
  assert.equal(status, 429)
  assert.deepEqual(numbers(headers['ratelimit-policy']), POLICIES)
  assert.deepEqual(numbers(headers.ratelimit), [['nar,"row', { r: 0, t: 60 }]])
  assert.equal(headers['retry-after'], '60')
  assert.deepEqual(JSON.parse(body)['violated-policies'], ['nar,"row'])
}

async function deniedUnlisted(stage: Stage): Promise<void> {
  const dialects = { headers: ['draft', 'draft-6', 'legacy'] } as const
  const site = await stage.behind([
    limit(stage, { ...WIDE, ...dialects }),
    limit(stage, { ...NARROW, headers: 'none' }),
  ])
  await site.ask()
  const { status, headers } = await site.ask()
  assert.equal(status, 429)
  assert.equal(headers.ratelimit, undefined)
  assert.equal(headers['x-ratelimit-remaining'], undefined)
  assert.equal(headers['ratelimit-remaining'], undefined)
  assert.deepEqual(numbers(headers['ratelimit-policy']), [POLICIES[0]])
}

async function legacyMerged(stage: Stage): Promise<void> {
  const legacy = { headers: 'legacy', legacy: { reset: 'delta' } } as const
  const site = await stage.behind([
    limit(stage, { name: 'near', limit: 2, window: '1m', ...legacy }),
    limit(stage, { ...WIDE, ...legacy }),
  ])
  const { headers } = await site.ask()
  const shown = ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`])
  assert.deepEqual(shown, ['2', '1', '60'])
}

async function capListed(stage: Stage): Promise<void> {
  const gate = new Gate()
  const site = await stage.behind([limit(stage, WIDE), cap({ limit: 1, name: 'report', status: 429 })], gate.handler)
  const holder = site.start()
  await until(() => gate.entered === 1)
  const { status, headers, body } = await site.ask()
  assert.equal(status, 429)
  assert.equal(headers.ratelimit, '"report";r=0')
  assert.equal(headers['ratelimit-policy'], '"wide";q=10;w=3600, "report";q=1;qu="concurrent-requests"')
  assert.deepEqual(JSON.parse(body).title, 'Quota Exceeded')
  gate.open()
  await holder.answer
}

async function neverFits(stage: Stage): Promise<void> {
  const site = await stage.behind([limit(stage, { ...WIDE, cost: () => 11, headers: ['draft', 'legacy'] })])
  const { status, headers } = await site.ask()
  assert.equal(status, 429)
  assert.equal('retry-after' in headers, false)
  assert.equal('x-ratelimit-reset' in headers, false)
  assert.equal(headers.ratelimit, '"wide";r=0')
}

async function keyDenies(stage: Stage): Promise<void> {
  const site = await stage.behind([limit(stage, { ...WIDE, key: byHeader('x-api-key', { missing: 'deny' }) })])
  const { status, headers } = await site.ask()
  assert.equal(status, 429)
  assert.equal('retry-after' in headers, false)
  assert.equal(headers.ratelimit, '"wide";r=0')
  assert.equal((await site.ask({ headers: { 'x-api-key': 'a' } })).status, 200)
}
