import assert from 'node:assert/strict'
import type { RequestSluice } from '@sluice/http'
import type { CostSource } from '@sluice/http/shared'
import type { TestRunner } from '../../suite-runner.ts'
import {
  cap,
  type Handler,
  type HookRequest,
  type HookResponse,
  type LimiterSpec,
  rate,
} from '../stage/app-description.ts'
import { ok, type Site, type Stage } from '../stage/stage.ts'
import { until } from '../stage/until.ts'
import { Watcher } from '../stage/watcher.ts'

type Cost = CostSource<HookRequest, HookResponse>

const LIMIT = 10
const EVENTS = 'text/event-stream'

/** Costs that grow while the response streams. */
export function streamBudgets({ describe, test }: TestRunner, stage: Stage): void {
  describe('a cost that is extended while the response streams', () => {
    test('charges what the handler has reported', () => reported(stage))
    test('is charged what settle returns', () => settled(stage))
    test('is the reservation if the handler reports nothing', () => unreported(stage))
    test('ends an event stream with an error when the limit is used up', () => endedEvents(stage))
    test('breaks off any other stream when the limit is used up', () => brokenOff(stage))
    test('does not end a response that uses exactly the limit', () => exact(stage))
    test("lets a stream end on its own if onExhausted is 'finish'", () => finished(stage))
    test('charges a client that disconnects what was reported until then', () => disconnected(stage))
  })
}

/** Header with the number of parts that the handlers of `streaming` send. */
const PARTS = 'x-parts'

interface Streaming {
  /** Called after each report, with the number of reported units and the answer. */
  readonly reported?: (units: number, mayContinue: boolean) => void
  /** Sends no further parts from here on, and does not end either. */
  readonly stopAfter?: number
}

/** A handler that sends parts, and reports one unit after each of them. Without the header it sends none. */
function streaming(contentType: string, { reported, stopAfter }: Streaming = {}): Handler {
  async function* parts(count: number, sluice: RequestSluice): AsyncGenerator<string> {
    for (let part = 1; part <= count && !sluice.exhausted.aborted; part++) {
      yield `data: ${part}\n\n`
      const mayContinue = await sluice.used(1)
      reported?.(part, mayContinue)
      if (part === stopAfter) await new Promise(() => {})
    }
  }
  return ({ request, sluice }) => {
    const count = Number(request.header(PARTS) ?? 0)
    if (count === 0 || !sluice) return ok()
    return { headers: { 'content-type': contentType }, parts: parts(count, sluice) }
  }
}

function budget(stage: Stage, cost: Cost): LimiterSpec {
  const policy = { limit: LIMIT, window: '1m', algorithm: 'fixed-window', maxHoldMs: '10m' } as const
  return rate({ ...policy, clock: stage.clock, cost })
}

/** Returns the units that are left. Its own request reserves one. */
async function left(site: Site): Promise<number> {
  const { status, headers } = await site.ask()
  return status === 429 ? 0 : Number(/r=(\d+)/.exec(headers.ratelimit)?.[1]) + 1
}

/** Creates a site with a limit of 10 units, and waits for the end of each request. */
async function streamed(stage: Stage, cost: Cost, handler: Handler) {
  const watcher = new Watcher()
  const site = await stage.behind([cap({ limit: 9, observers: [watcher] }), budget(stage, cost)], handler)
  const ended = (requests: number): Promise<void> => until(() => watcher.released === requests)
  return { site, ended, ask: (parts: number) => site.ask({ headers: { [PARTS]: String(parts) } }) }
}

async function reported(stage: Stage): Promise<void> {
  const answers: boolean[] = []
  const handler = streaming(EVENTS, { reported: (_units, mayContinue) => answers.push(mayContinue) })
  const { site, ended, ask } = await streamed(stage, { reserve: 1, extend: 'stream', extendBy: 2 }, handler)
  assert.equal((await ask(4)).body, 'data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n')
  await ended(1)
  assert.deepEqual(answers, [true, true, true, true])
  assert.equal(await left(site), 6)
}

async function settled(stage: Stage): Promise<void> {
  const seen: (number | undefined)[] = []
  const settle = (_req: HookRequest, _res: HookResponse, { used }: { readonly used?: number | undefined }) => {
    seen.push(used)
    return used === undefined ? undefined : used + 2
  }
  const cost: Cost = { reserve: 1, extend: 'stream', settle }
  const { site, ended, ask } = await streamed(stage, cost, streaming(EVENTS))
  await ask(3)
  await ended(1)
  assert.equal(await left(site), 5)
  await ended(2)
  assert.deepEqual(seen, [3, undefined])
}

async function unreported(stage: Stage): Promise<void> {
  const { site, ended } = await streamed(stage, { reserve: 1, extend: 'stream' }, ok)
  await site.ask()
  await ended(1)
  assert.equal(await left(site), 9)
}

async function endedEvents(stage: Stage): Promise<void> {
  const answers: boolean[] = []
  const handler = streaming(EVENTS, { reported: (_units, mayContinue) => answers.push(mayContinue) })
  const { site, ended, ask } = await streamed(stage, { reserve: 1, extend: 'stream', extendBy: 3 }, handler)
  const { status, body } = await ask(100)
  const [parts, end] = body.split('\n\n\n\nevent: error\n')
  assert.equal(status, 200)
  // more than the limit by one part, which is reported after it was sent
  assert.equal(parts.split('\n\n').length, LIMIT + 1)
  assert.match(end, /^data: \{.*\}\n\n$/)
  const { error } = JSON.parse(end.slice('data: '.length))
  assert.deepEqual(error, {
    code: 'budget_exhausted',
    message: "The limit 'default' was reached before the response ended.",
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Quota Exceeded',
    status: 429,
    'violated-policies': ['default'],
  })
  await ended(1)
  assert.deepEqual(answers, [...Array(LIMIT).fill(true), false])
  assert.equal(await left(site), 0)
}

async function brokenOff(stage: Stage): Promise<void> {
  const { site, ended, ask } = await streamed(stage, { reserve: 2, extend: 'stream' }, streaming('text/plain'))
  await assert.rejects(ask(100))
  await ended(1)
  assert.equal(await left(site), 0)
}

async function exact(stage: Stage): Promise<void> {
  const { site, ended, ask } = await streamed(stage, { reserve: 5, extend: 'stream' }, streaming(EVENTS))
  const { body } = await ask(LIMIT)
  assert.equal(body.endsWith(`data: ${LIMIT}\n\n`), true)
  await ended(1)
  assert.equal(await left(site), 0)
}

async function finished(stage: Stage): Promise<void> {
  const answers: boolean[] = []
  const handler = streaming(EVENTS, { reported: (_units, mayContinue) => answers.push(mayContinue) })
  const cost: Cost = { reserve: 4, extend: 'stream', onExhausted: 'finish' }
  const { site, ended, ask } = await streamed(stage, cost, handler)
  assert.equal((await ask(15)).body.endsWith('data: 15\n\n'), true)
  await ended(1)
  assert.deepEqual(answers, Array(15).fill(true))
  assert.equal(await left(site), 0)
}

async function disconnected(stage: Stage): Promise<void> {
  const answers: boolean[] = []
  const handler = streaming(EVENTS, { reported: (_units, mayContinue) => answers.push(mayContinue), stopAfter: 3 })
  const { site, ended } = await streamed(stage, { reserve: 1, extend: 'stream', extendBy: 5 }, handler)
  const pending = site.start({ headers: { [PARTS]: '9' } })
  await until(() => answers.length === 3)
  pending.abort()
  await ended(1)
  assert.equal(await left(site), 7)
}
