import assert from 'node:assert/strict'
import type { Priority } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { PREFLIGHT } from './preflights.ts'
import { cap, rate, type ShedderOptions, shedder } from './stage/app-description.ts'
import { type Asked, own } from './stage/client.ts'
import { type Stage, statuses } from './stage/stage.ts'
import { Watcher } from './stage/watcher.ts'

const PRIORITIES: readonly Priority[] = ['sheddable', 'low', 'normal', 'high', 'critical']
const PROBLEM =
  '{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",' +
  '"title":"Temporary Reduced Capacity","status":503,"violated-policies":["shed"]}'

/** Refusals by the health of the process, which the health check of each test decides. */
export function shed({ describe, test }: TestRunner, stage: Stage): void {
  describe('load shedding', () => {
    test('refuses nothing while the process is healthy, and writes no headers', () => calm(stage))
    test('refuses with a problem document, and spreads the time to retry', () => refused(stage))
    test('refuses the least important requests by the priority that a header names', () => byHeader(stage))
    test('takes an unknown priority and one whose function fails as normal', () => unknown(stage))
    test('in shadow refuses nothing, and reports what it would refuse', () => shadow(stage))
    test('neither refuses nor counts skipped requests', () => skipped(stage))
    test('neither refuses nor counts CORS preflights', () => preflights(stage))
    test('lets the application answer', () => answered(stage))
    test('charges no units and holds no permits for a refused request, which has one response', () => one(stage))
    test('refuses nothing again when the process has recovered', () => recovered(stage))
  })
}

/** A process whose health is set by the test: from 0 to 1. */
class Process {
  health = 1
  readonly watcher = new Watcher()

  limit(stage: Stage, options: Partial<ShedderOptions> = {}): ReturnType<typeof shedder> {
    const health = (): number => this.health
    return shedder({ eventLoopDelayMs: false, health, clock: stage.clock, observers: [this.watcher], ...options })
  }
}

function withPriority(priority: string): Asked {
  return { headers: { 'x-priority': priority } }
}

async function calm(stage: Stage): Promise<void> {
  const site = await stage.behind([new Process().limit(stage)])
  const { status, headers } = await site.ask()
  assert.equal(status, 200)
  const shown = Object.keys(own(headers)).filter((name) => /ratelimit|retry-after|cache-control/.test(name))
  assert.deepEqual(shown, [])
}

async function refused(stage: Stage): Promise<void> {
  const process = new Process()
  process.health = 0
  const site = await stage.behind([process.limit(stage)])
  const waits = new Set<string | undefined>()
  for (let time = 0; time < 40; time++) {
    const { status, reason, headers, body } = await site.ask()
    assert.equal(`${status} ${reason} ${body}`, `503 Service Unavailable ${PROBLEM}`)
    const { 'retry-after': wait, ...others } = own(headers)
    assert.match(wait ?? '', /^[1-5]$/)
    waits.add(wait)
    assert.deepEqual(others, {
      'cache-control': 'no-store',
      'content-type': 'application/problem+json',
      'content-length': String(PROBLEM.length),
    })
  }
  assert.ok(waits.size > 1, [...waits].join())
}

async function byHeader(stage: Stage): Promise<void> {
  const process = new Process()
  process.health = 0.4
  const site = await stage.behind([process.limit(stage, { priority: { header: 'x-priority' } })])
  const answers: number[] = []
  for (const priority of PRIORITIES) answers.push((await site.ask(withPriority(priority))).status)
  assert.deepEqual(answers, [503, 503, 503, 503, 200])
  const events = process.watcher.events.map(({ name, data }) => [name, data])
  const common = { policy: 'shed', pressure: 0.6, probability: 1, signal: 'health', shadow: false }
  assert.deepEqual(
    events,
    PRIORITIES.slice(0, 4).map((priority) => ['shed', { ...common, priority }]),
  )
}

async function unknown(stage: Stage): Promise<void> {
  const process = new Process()
  // refuses all normal requests, and no important ones
  process.health = 0.7
  const named = await stage.behind([process.limit(stage, { priority: { header: 'x-priority' } })])
  const byName = [await named.ask(withPriority('urgent')), await named.ask(), await named.ask(withPriority('high'))]
  assert.deepEqual(
    byName.map(({ status }) => status),
    [503, 503, 200],
  )
  const priority = (): never => {
    throw new Error('no priority')
  }
  const failing = await stage.behind([process.limit(stage, { priority })])
  assert.equal((await failing.ask()).status, 503)
  assert.equal(process.watcher.count('hookFailed'), 1)
  assert.deepEqual(stage.warnings.codes, ['SLUICE_HOOK_FAILED'])
}

async function shadow(stage: Stage): Promise<void> {
  const process = new Process()
  process.health = 0
  const site = await stage.behind([process.limit(stage, { mode: 'shadow' })])
  assert.deepEqual(await statuses(site, 2), [200, 200])
  assert.deepEqual(
    process.watcher.events.map(({ name, data }) => `${name} ${data.shadow}`),
    ['shed true', 'shed true'],
  )
}

async function skipped(stage: Stage): Promise<void> {
  const process = new Process()
  process.health = 0
  const site = await stage.behind([process.limit(stage, { skip: (req) => req.header('x-probe') === 'yes' })])
  assert.deepEqual(await statuses(site, 1, { headers: { 'x-probe': 'yes' } }), [200])
  assert.deepEqual(await statuses(site, 1), [503])
}

async function preflights(stage: Stage): Promise<void> {
  const process = new Process()
  process.health = 0
  const failing = (): never => {
    throw new Error('no priority')
  }
  const site = await stage.behind([process.limit(stage, { priority: failing })])
  assert.deepEqual(await statuses(site, 3, PREFLIGHT), [200, 200, 200])
  // neither refusals nor functions that fail because a preflight has no credentials are reported
  assert.deepEqual([process.watcher.events, stage.warnings.codes, stage.clock.pending], [[], [], 0])
  const { origin, ...method } = PREFLIGHT.headers
  for (const headers of [{}, { origin }, method]) {
    assert.deepEqual(await statuses(site, 1, { method: 'OPTIONS', headers }), [503])
  }
  assert.deepEqual(await statuses(site, 1, { ...PREFLIGHT, method: 'POST' }), [503])
}

async function answered(stage: Stage): Promise<void> {
  const process = new Process()
  process.health = 0
  const site = await stage.behind([process.limit(stage, { status: 529, message: 'busy' })])
  const { status, body } = await site.ask()
  assert.deepEqual([status, body], [529, 'busy'])
  const custom = await stage.behind([process.limit(stage, { denied: (_req, res) => res.send({ body: 'mine' }) })])
  const own = await custom.ask()
  assert.deepEqual([own.status, own.body], [503, 'mine'])
}

async function one(stage: Stage): Promise<void> {
  const process = new Process()
  process.health = 0
  const watcher = new Watcher()
  const counted = rate({ limit: 1, window: '1m', algorithm: 'fixed-window', clock: stage.clock, observers: [watcher] })
  const site = await stage.behind([process.limit(stage), counted, cap({ limit: 1, observers: [watcher] })])
  for (let time = 0; time < 3; time++) {
    const { status, headers } = await site.ask()
    assert.deepEqual([status, headers.ratelimit, headers['ratelimit-policy']], [503, undefined, undefined])
  }
  assert.deepEqual([watcher.decisions.length, watcher.acquired], [0, 0])
  process.health = 1
  stage.clock.advance(20_000)
  assert.deepEqual(await statuses(site, 2), [200, 429])
}

async function recovered(stage: Stage): Promise<void> {
  const process = new Process()
  process.health = 0
  const site = await stage.behind([process.limit(stage)])
  assert.deepEqual(await statuses(site, 1), [503])
  process.health = 1
  stage.clock.advance(20_000)
  assert.deepEqual(await statuses(site, 2), [200, 200])
}
