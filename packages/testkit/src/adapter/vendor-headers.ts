import assert from 'node:assert/strict'
import { byHeader } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { cap, type RateOptions, rate } from './stage/app-description.ts'
import { own } from './stage/client.ts'
import { Gate, type Stage } from './stage/stage.ts'
import { until } from './stage/until.ts'

type Fields = Readonly<Record<string, string>>

/** The fields that clients of language models read, next to those of the draft. */
export function vendorHeaders({ describe, test }: TestRunner, stage: Stage): void {
  describe('the dialect openai', () => {
    test('adds the fields of requests and tokens to the fields of the draft', () => openai(stage))
    test('shows the binding one of several policies of one unit, and no other units', () => binding(stage))
    test('shows the exact wait of a denial in milliseconds', () => exactWait(stage))
  })
  describe('the dialect anthropic', () => {
    test('adds the fields of requests, input tokens and output tokens', () => anthropic(stage))
    test('shows all kinds of units on a denial', () => anthropicDenied(stage))
  })
  describe('the dialects of vendors', () => {
    test('can be combined', () => combined(stage))
    test('are exposed to pages of other origins', () => exposed(stage))
    test('show the wait for a full cap', () => fullCap(stage))
    test('show a request that can never pass as not worth a retry', () => never(stage))
    test('show the units of all limiters, also on a denial', () => merged(stage))
    test('show no units if the limiter that denies writes no headers', () => hidden(stage))
    test('write nothing for an admitted request if headersOn is denied', () => onDenied(stage))
  })
}

/** Headers of vendors, and the times to retry. */
function shown(headers: Fields): Fields {
  const names = /^(x-ratelimit|anthropic-ratelimit)-|^(retry-after|retry-after-ms|x-should-retry)$/
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)))
}

function limited(stage: Stage, options: Partial<RateOptions>) {
  return rate({ limit: 1, window: '1m', algorithm: 'fixed-window', clock: stage.clock, ...options } as RateOptions)
}

const FIXED = { algorithm: 'fixed-window' } as const
const REQUESTS = { name: 'requests', limit: 2, window: '90s', ...FIXED } as const
const TOKENS = { name: 'tokens', limit: 10_000, window: '6m', unit: 'tokens', cost: 500, ...FIXED } as const

async function openai(stage: Stage): Promise<void> {
  const site = await stage.behind([rate({ policies: [REQUESTS, TOKENS], headers: 'openai', clock: stage.clock })])
  const passed = await site.ask()
  assert.equal(passed.status, 200)
  assert.equal(passed.headers['ratelimit-policy'], '"requests";q=2;w=90, "tokens";q=10000;qu="tokens";w=360')
  assert.equal(passed.headers.ratelimit, '"requests";r=1;t=90, "tokens";r=9500;t=360')
  assert.deepEqual(shown(passed.headers), {
    'x-ratelimit-limit-requests': '2',
    'x-ratelimit-remaining-requests': '1',
    'x-ratelimit-reset-requests': '1m30s',
    'x-ratelimit-limit-tokens': '10000',
    'x-ratelimit-remaining-tokens': '9500',
    'x-ratelimit-reset-tokens': '6m0s',
  })
  await site.ask()
  stage.clock.advance(89_750)
  const { status, headers } = await site.ask()
  assert.equal(status, 429)
  assert.deepEqual(own(headers), {
    'retry-after': '1',
    'ratelimit-policy': '"requests";q=2;w=90, "tokens";q=10000;qu="tokens";w=360',
    ratelimit: '"requests";r=0;t=1',
    'x-ratelimit-limit-requests': '2',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '250ms',
    'x-ratelimit-limit-tokens': '10000',
    'x-ratelimit-remaining-tokens': '9000',
    'x-ratelimit-reset-tokens': '4m30.25s',
    'retry-after-ms': '250',
    'cache-control': 'no-store',
    'content-type': 'application/problem+json',
    'content-length': '144',
  })
}

async function binding(stage: Stage): Promise<void> {
  const policies = [
    { name: 'minute', limit: 10, window: '1m', ...FIXED },
    { name: 'day', limit: 4, window: '1d', unit: 'request', ...FIXED },
    { name: 'spending', limit: 100, window: '1d', unit: 'cents', cost: 99, ...FIXED },
  ] as const
  const site = await stage.behind([rate({ policies, headers: ['openai'], clock: stage.clock })])
  assert.deepEqual(shown((await site.ask()).headers), {
    'x-ratelimit-limit-requests': '4',
    'x-ratelimit-remaining-requests': '3',
    'x-ratelimit-reset-requests': '24h0m0s',
  })
}

async function exactWait(stage: Stage): Promise<void> {
  const site = await stage.behind([limited(stage, { headers: 'openai', algorithm: 'sliding-log' })])
  await site.ask()
  stage.clock.advance(12_345)
  const { headers } = await site.ask()
  assert.deepEqual([headers['retry-after'], headers['retry-after-ms']], ['48', '47655'])
  stage.clock.advance(47_654)
  const early = await site.ask()
  assert.deepEqual([early.status, early.headers['retry-after-ms']], [429, '1'])
  stage.clock.advance(1)
  assert.equal((await site.ask()).status, 200)
}

const INPUT = { ...TOKENS, name: 'input', unit: 'input-tokens', limit: 800 } as const
const OUTPUT = { ...TOKENS, name: 'output', unit: 'output-tokens', limit: 600, window: '1m', cost: 100 } as const

async function anthropic(stage: Stage): Promise<void> {
  const policies = [REQUESTS, INPUT, OUTPUT]
  const site = await stage.behind([rate({ policies, headers: 'anthropic', clock: stage.clock })])
  // a fraction of a second is rounded up
  stage.clock.advance(1)
  const { headers } = await site.ask()
  assert.equal(headers.ratelimit, '"requests";r=1;t=90, "input";r=300;t=360, "output";r=500;t=60')
  assert.deepEqual(shown(headers), {
    'anthropic-ratelimit-requests-limit': '2',
    'anthropic-ratelimit-requests-remaining': '1',
    'anthropic-ratelimit-requests-reset': '2026-01-01T00:01:31Z',
    'anthropic-ratelimit-input-tokens-limit': '800',
    'anthropic-ratelimit-input-tokens-remaining': '300',
    'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:06:01Z',
    'anthropic-ratelimit-output-tokens-limit': '600',
    'anthropic-ratelimit-output-tokens-remaining': '500',
    'anthropic-ratelimit-output-tokens-reset': '2026-01-01T00:01:01Z',
  })
}

async function anthropicDenied(stage: Stage): Promise<void> {
  const site = await stage.behind([rate({ policies: [TOKENS, INPUT], headers: 'anthropic', clock: stage.clock })])
  await site.ask()
  stage.clock.advance(359_500)
  const { status, headers } = await site.ask()
  assert.equal(status, 429)
  assert.deepEqual(shown(headers), {
    'retry-after': '1',
    'retry-after-ms': '500',
    'anthropic-ratelimit-tokens-limit': '10000',
    'anthropic-ratelimit-tokens-remaining': '9500',
    'anthropic-ratelimit-tokens-reset': '2026-01-01T00:06:00Z',
    // too few for another request, but not none
    'anthropic-ratelimit-input-tokens-limit': '800',
    'anthropic-ratelimit-input-tokens-remaining': '300',
    'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:06:00Z',
  })
}

async function combined(stage: Stage): Promise<void> {
  const headers = ['anthropic', 'legacy', 'openai'] as const
  const site = await stage.behind([limited(stage, { headers, legacy: { reset: 'delta' } })])
  const passed = await site.ask()
  assert.equal(passed.headers.ratelimit, '"default";r=0;t=60')
  assert.deepEqual(shown(passed.headers), {
    'x-ratelimit-limit': '1',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '60',
    'x-ratelimit-limit-requests': '1',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '1m0s',
    'anthropic-ratelimit-requests-limit': '1',
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': '2026-01-01T00:01:00Z',
  })
}

async function exposed(stage: Stage): Promise<void> {
  const site = await stage.behind([limited(stage, { headers: 'openai' })])
  const asked = { headers: { origin: 'https://shop.example' } }
  await site.ask(asked)
  const { status, headers } = await site.ask(asked)
  assert.equal(status, 429)
  const names = (headers['access-control-expose-headers'] ?? '').split(', ').map((name) => name.toLowerCase())
  const ours = Object.keys(shown(headers))
  assert.deepEqual(names.sort(), ['ratelimit', 'ratelimit-policy', ...ours].sort())
}

async function fullCap(stage: Stage): Promise<void> {
  const gate = new Gate()
  const site = await stage.behind([cap({ limit: 1, headers: 'openai' })], gate.handler)
  const holder = site.start()
  await until(() => gate.entered === 1)
  const { status, headers } = await site.ask()
  assert.equal(status, 503)
  assert.equal(headers.ratelimit, '"inflight";r=0')
  assert.deepEqual(shown(headers), { 'retry-after': '1', 'retry-after-ms': '1000' })
  gate.open()
  await holder.answer
}

async function never(stage: Stage): Promise<void> {
  const tooMuch = limited(stage, { headers: 'openai', cost: () => 2 })
  const denying = limited(stage, { headers: 'openai', key: byHeader('x-user', { missing: 'deny' }) })
  for (const limit of [tooMuch, denying]) {
    const { status, headers } = await (await stage.behind([limit])).ask()
    assert.equal(status, 429)
    assert.deepEqual(shown(headers), {
      'x-ratelimit-limit-requests': '1',
      'x-ratelimit-remaining-requests': '0',
      'x-should-retry': 'false',
    })
  }
  const tooHeavy = await stage.behind([cap({ limit: 1, weight: () => 2, headers: 'anthropic' })])
  assert.deepEqual(shown((await tooHeavy.ask()).headers), { 'x-should-retry': 'false' })
}

async function merged(stage: Stage): Promise<void> {
  const site = await stage.behind([
    limited(stage, { ...TOKENS, headers: 'openai' }),
    limited(stage, { name: 'other', limit: 9, headers: 'draft' }),
    limited(stage, { ...REQUESTS, limit: 1, headers: 'openai' }),
  ])
  const units = { 'x-ratelimit-limit-requests': '1', 'x-ratelimit-remaining-requests': '0' }
  const tokens = { 'x-ratelimit-limit-tokens': '10000', 'x-ratelimit-reset-tokens': '6m0s' }
  const resets = { 'x-ratelimit-reset-requests': '1m30s' }
  assert.deepEqual(shown((await site.ask()).headers), {
    ...units,
    ...tokens,
    ...resets,
    'x-ratelimit-remaining-tokens': '9500',
  })
  const { status, headers } = await site.ask()
  assert.equal(status, 429)
  assert.deepEqual(shown(headers), {
    ...units,
    ...tokens,
    ...resets,
    'x-ratelimit-remaining-tokens': '9000',
    'retry-after': '90',
    'retry-after-ms': '90000',
  })
}

async function hidden(stage: Stage): Promise<void> {
  const site = await stage.behind([
    limited(stage, { ...TOKENS, headers: ['openai', 'anthropic'] }),
    limited(stage, { name: 'narrow', headers: 'none' }),
  ])
  await site.ask()
  const { status, headers } = await site.ask()
  assert.equal(status, 429)
  assert.deepEqual(shown(headers), { 'retry-after': '60' })
}

async function onDenied(stage: Stage): Promise<void> {
  const site = await stage.behind([limited(stage, { headers: 'openai', headersOn: 'denied' })])
  assert.deepEqual(shown((await site.ask()).headers), {})
  const { headers } = await site.ask()
  assert.equal(headers.ratelimit, '"default";r=0;t=60')
  assert.equal(headers['x-ratelimit-reset-requests'], '1m0s')
}
