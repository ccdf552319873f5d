import assert from 'node:assert/strict'
import type { TestRunner } from '../suite-runner.ts'
import { type CapOptions, cap, type RateOptions, rate } from './stage/app-description.ts'
import { Gate, ok, type Stage, statuses } from './stage/stage.ts'
import { until } from './stage/until.ts'
import { Watcher } from './stage/watcher.ts'

/** Custom denial responses, and observers. */
export function answers({ describe, test }: TestRunner, stage: Stage): void {
  describe('a custom status', () => {
    test('is used for the response and in the problem document', () => ownStatus(stage))
    test('of 503 has the problem type for a lack of capacity', () => ownServerStatus(stage))
  })
  describe('a message', () => {
    test('that is a text is sent as plain text', () => textMessage(stage))
    test('that is an object is sent as JSON', () => jsonMessage(stage))
    test('that is a function of the request and the denial may be asynchronous', () => computedMessage(stage))
    test('that fails is replaced by the default response, and warned about once', () => failedMessage(stage))
  })
  describe('a custom response', () => {
    test('is sent with the headers of the denial', () => ownAnswer(stage))
    test('to a full cap is sent without a decision', () => ownCapAnswer(stage))
  })
  describe('observers', () => {
    test('receive every decision', () => decisions(stage))
    test('receive every permit and every denial of a cap', () => permits(stage))
    test('that throw are removed, without effect on responses', () => throwing(stage))
  })
}

/** Custom responses that fail on a server without error handlers. */
export function failedAnswers({ describe, test }: TestRunner, stage: Stage): void {
  describe('a custom response', () => {
    for (const [how, denied] of failing) {
      test(`that ${how} is replaced by the default response, and warned about once`, () => failed(stage, denied))
    }
  })
}

const failing: readonly (readonly [string, RateOptions['denied']])[] = [
  [
    'throws after setting a status',
    (_req, res) => {
      res.status(418)
      throw new Error('no template')
    },
  ],
  [
    'throws',
    () => {
      throw new Error('no template')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no template'))],
]

function one(stage: Stage, options: Partial<RateOptions> = {}): RateOptions {
  return { limit: 1, window: '1m', algorithm: 'fixed-window', clock: stage.clock, ...options } as RateOptions
}

async function ownStatus(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage, { status: 420 }))])
  await site.ask()
  const { status, body } = await site.ask()
  assert.equal(status, 420)
  assert.equal(JSON.parse(body).status, 420)
  assert.equal(JSON.parse(body).title, 'Quota Exceeded')
}

async function ownServerStatus(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage, { status: 503 }))])
  await site.ask()
  const { status, body } = await site.ask()
  assert.equal(status, 503)
  assert.equal(JSON.parse(body).title, 'Temporary Reduced Capacity')
}

async function textMessage(stage: Stage): Promise<void> {
  for (const limit of [
    rate(one(stage, { message: 'Später, bitte.' })),
    cap({ limit: 1, weight: () => 2, message: '…' }),
  ]) {
    const site = await stage.behind([limit])
    await site.ask()
    const { headers, body } = await site.ask()
    const expected = limit.kind === 'cap' ? '…' : 'Später, bitte.'
    assert.equal(Buffer.from(body, 'latin1').toString(), expected)
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(headers['content-length'], String(Buffer.byteLength(expected)))
    assert.equal((await site.ask({ method: 'HEAD' })).headers['content-length'], headers['content-length'])
  }
}

async function jsonMessage(stage: Stage): Promise<void> {
  const site = await stage.behind([rate(one(stage, { message: { error: 'slow down' } }))])
  await site.ask()
  const { status, headers, body } = await site.ask()
  assert.equal(`${status} ${headers['retry-after']} ${body}`, '429 60 {"error":"slow down"}')
  assert.match(headers['content-type'], /^application\/json/)
}

async function computedMessage(stage: Stage): Promise<void> {
  const text: RateOptions['message'] = (req, { denial }) => `${req.header('x-name')}: ${denial.retryAfterSeconds}`
  const later: RateOptions['message'] = async (...args) => ({ text: await text(...args) })
  const bodies = []
  for (const message of [text, later]) {
    const site = await stage.behind([rate(one(stage, { message }))])
    await site.ask()
    bodies.push((await site.ask({ headers: { 'x-name': 'anna' } })).body)
  }
  assert.deepEqual(bodies, ['anna: 60', '{"text":"anna: 60"}'])
}

async function failedMessage(stage: Stage): Promise<void> {
  const broken = (): never => {
    throw new Error('no template')
  }
  const nothing = (): never => undefined as never
  for (const message of [broken, async () => broken(), nothing]) {
    const site = await stage.behind([rate(one(stage, { message }))])
    await site.ask()
    for (let time = 0; time < 2; time++) assert.equal(JSON.parse((await site.ask()).body).title, 'Quota Exceeded')
  }
  assert.deepEqual(stage.warnings.codes, ['SLUICE_HOOK_FAILED', 'SLUICE_HOOK_FAILED', 'SLUICE_HOOK_FAILED'])
}

async function ownAnswer(stage: Stage): Promise<void> {
  const denied: RateOptions['denied'] = (req, res, { denial, decision }) =>
    res.send({
      headers: { 'Content-Type': 'text/plain' },
      body: `${req.method} ${denial.retryAfterSeconds} ${decision?.binding.policy.name}`,
    })
  const site = await stage.behind([rate(one(stage, { denied }))])
  await site.ask()
  const { status, headers, body } = await site.ask()
  assert.equal(`${status} ${body}`, '429 GET 60 default')
  assert.match(headers['content-type'], /^text\/plain/)
  assert.equal(headers.ratelimit, '"default";r=0;t=60')
  assert.equal(headers['cache-control'], 'no-store')
}

async function ownCapAnswer(stage: Stage): Promise<void> {
  const gate = new Gate()
  const denied: CapOptions['denied'] = async (_req, res, { decision }) => res.send({ status: 529, body: `${decision}` })
  const site = await stage.behind([cap({ limit: 1, denied })], gate.handler)
  const holder = site.start()
  await until(() => gate.entered === 1)
  const { status, body } = await site.ask()
  assert.equal(`${status} ${body}`, '529 undefined')
  gate.open()
  await holder.answer
}

async function failed(stage: Stage, denied: RateOptions['denied']): Promise<void> {
  const site = await stage.behind([rate(one(stage, { denied }))])
  await site.ask()
  for (let time = 0; time < 2; time++) {
    const { status, headers, body } = await site.ask()
    assert.equal(status, 429)
    assert.equal(headers['content-type'], 'application/problem+json')
    assert.equal(body.length, 143)
  }
  assert.deepEqual(stage.warnings.codes, ['SLUICE_HOOK_FAILED'])
}

async function decisions(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const site = await stage.behind([rate(one(stage, { observers: [watcher] }))])
  assert.deepEqual(await statuses(site, 3), [200, 429, 429])
  assert.deepEqual(
    watcher.decisions.map(({ allowed }) => allowed),
    [true, false, false],
  )
}

async function permits(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const gate = new Gate()
  const site = await stage.behind([cap({ limit: 1, observers: [watcher] })], gate.handler)
  const holder = site.start()
  await until(() => gate.entered === 1)
  assert.equal((await site.ask()).status, 503)
  gate.open()
  assert.equal((await holder.answer).status, 200)
  await until(() => watcher.held === 0)
  assert.deepEqual([watcher.acquired, watcher.released, watcher.denied], [1, 1, 1])
}

async function throwing(stage: Stage): Promise<void> {
  const watcher = new Watcher()
  const broken = {
    decided: () => {
      throw new Error('no disk')
    },
  }
  const site = await stage.behind([rate(one(stage, { observers: [broken, watcher] }))], ok)
  assert.deepEqual(await statuses(site, 2), [200, 429])
  assert.equal(watcher.decisions.length, 2)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_OBSERVER_DROPPED'])
}
