import assert from 'node:assert/strict'
import type { TestRunner } from '../suite-runner.ts'
import { type CapOptions, cap, type RateOptions, rate } from './stage/app-description.ts'
import type { Answered } from './stage/client.ts'
import { Gate, type Stage } from './stage/stage.ts'
import { until } from './stage/until.ts'

const AS_ERROR = { next: true } as const

/** Denials and errors that are passed to the error handling of the framework. */
export function errorHandlers({ describe, test }: TestRunner, stage: Stage): void {
  describe('next: true', () => {
    test("sends a denial as the framework's own error response, with status and headers", () => ofRate(stage))
    test('sends the denial of a full cap as an error response', () => ofCap(stage))
  })
  describe('a custom response', () => {
    test('that throws is an error of the application', () => ofFailedAnswer(stage, broken))
    test('that rejects is an error of the application', () => ofFailedAnswer(stage, async () => broken()))
  })
}

const broken = (): never => {
  throw new Error('no template')
}

async function ofFailedAnswer(stage: Stage, denied: RateOptions['denied']): Promise<void> {
  const options = { limit: 1, window: '1m', clock: stage.clock, denied } as const
  const site = await stage.behind([rate(options as RateOptions)])
  assert.equal((await site.ask()).status, 200)
  const { status, headers } = await site.ask()
  assert.equal(status, 500)
  assert.notEqual(headers['content-type'], 'application/problem+json')
  stage.clock.advance(60_000)
  assert.equal((await site.ask()).status, 200)
  assert.deepEqual(stage.warnings.codes, [])
}

function shown({ status, headers }: Answered): unknown[] {
  const names = ['retry-after', 'ratelimit', 'ratelimit-policy', 'cache-control']
  return [status, ...names.map((name) => headers[name])]
}

async function ofRate(stage: Stage): Promise<void> {
  const options = { limit: 1, window: '1m', algorithm: 'fixed-window', clock: stage.clock, ...AS_ERROR } as const
  const site = await stage.behind([rate(options as RateOptions)])
  assert.equal((await site.ask()).status, 200)
  assert.deepEqual(shown(await site.ask()), [429, '60', '"default";r=0;t=60', '"default";q=1;w=60', 'no-store'])
  stage.clock.advance(60_000)
  assert.equal((await site.ask()).status, 200)
}

async function ofCap(stage: Stage): Promise<void> {
  const gate = new Gate()
  const options = { limit: 1, clock: stage.clock, ...AS_ERROR } as CapOptions
  const site = await stage.behind([cap(options)], gate.handler)
  const holder = site.start()
  await until(() => gate.entered === 1)
  const policy = '"inflight";q=1;qu="concurrent-requests"'
  assert.deepEqual(shown(await site.ask()), [503, '1', '"inflight";r=0', policy, 'no-store'])
  gate.open()
  assert.equal((await holder.answer).status, 200)
}
