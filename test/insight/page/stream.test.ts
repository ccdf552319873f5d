import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { dashboard, type InsightSnapshot } from '@sluice/insight'
import { FakeClock } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { type Listening, listening } from './open-page.ts'
import { ask } from './page-request.ts'
import { WatchedFleet } from './simulated-fleet.ts'

const VIEWERS = 50
const UPDATE_MS = 250

class Viewer {
  text = ''
  /** Updates that were received completely. */
  count = 0
  hasEnded = false
  readonly response: IncomingMessage

  constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8').on('data', (chunk) => {
      const from = Math.max(0, this.text.length - 3)
      this.text += chunk
      this.count += this.text.slice(from).split('}\n\n').length - 1
    })
    response.once('close', () => (this.hasEnded = true))
  }

  get updates(): { history: { series: { values: number[] }[] } }[] {
    const frames = this.text.split('\n\n').slice(0, -1)
    return frames.filter((frame) => frame.startsWith('data: ')).map((frame) => JSON.parse(frame.slice('data: '.length)))
  }
}

let fleet: WatchedFleet
let clock: FakeClock
let page: ReturnType<typeof dashboard>
let served: Listening

beforeEach(async () => {
  fleet = new WatchedFleet()
  clock = new FakeClock()
  page = dashboard({ insight: fleet, updateMs: UPDATE_MS, clock })
  served = await listening(page)
})
afterEach(async () => {
  page.close()
  await served.stop()
})

async function view(): Promise<Viewer> {
  const sent = request({
    host: '127.0.0.1',
    port: served.port,
    path: '/stream',
    headers: { host: 'localhost' },
    agent: false,
  })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return new Viewer(response)
}

const views = (count: number) => Promise.all(Array.from({ length: count }, view))
const haveSeen = (viewers: readonly Viewer[], updates: number) =>
  eventually(async () => viewers.every((viewer) => viewer.count >= updates), { what: `${updates} updates` })

describe('the stream', () => {
  test('sends everything first and then changes, computes each update once for all viewers, and none without viewers', async () => {
    clock.advance(10_000)
    expect(fleet.asked).toBe(0)
    const viewers = await views(VIEWERS)
    await haveSeen(viewers, 1)
    expect(fleet.asked).toBe(VIEWERS)
    for (let update = 2; update <= 5; update++) {
      clock.advance(UPDATE_MS)
      await haveSeen(viewers, update)
    }
    expect(fleet.asked).toBe(VIEWERS + 4)
    const [first, second] = viewers[0].updates
    expect(first.history.series[0].values).toHaveLength(61)
    expect(second.history.series[0].values).toHaveLength(3)
    for (const { response } of viewers) response.destroy()
    await eventually(async () => clock.pending === 0, { what: 'the end of updates' })
  })

  test('ends for all viewers when the page is closed', async () => {
    const viewers = await views(3)
    page.close()
    await eventually(async () => viewers.every(({ hasEnded }) => hasEnded), { what: 'the end of all streams' })
    expect(clock.pending).toBe(0)
    expect((await ask(served.port, '/stream')).status).toBe(503)
  })

  test('accepts a hundred viewers', async () => {
    await views(100)
    expect((await ask(served.port, '/stream')).status).toBe(503)
  })

  test('skips a viewer that does not read, buffers nothing for it, and sends everything when it reads again', async () => {
    const responses = new Set<ServerResponse>()
    served.server.on('request', (_req, res) => responses.add(res))
    // operating systems buffer megabytes
    fleet.events = Array.from({ length: 100 }, () => ({ at: 0, name: 'e'.repeat(160), text: 't'.repeat(160) }))
    const quick = await view()
    const slow = await view()
    slow.response.pause()
    const [, stuck] = responses
    let update = 1
    let waiting = 0
    // until the buffer no longer shrinks: the viewer does not read, and the operating system buffers are full. Node 24
    // writes in the background, so that the buffer may keep its length for a few updates before
    for (let unchanged = 0; unchanged < 20; ) {
      waiting = stuck.writableLength
      clock.advance(UPDATE_MS)
      await haveSeen([quick], ++update)
      unchanged = stuck.writableNeedDrain && stuck.writableLength === waiting ? unchanged + 1 : 0
    }
    for (let more = 0; more < 20; more++) {
      clock.advance(UPDATE_MS)
      await haveSeen([quick], ++update)
    }
    // none of the twenty updates was buffered
    expect(stuck.writableLength).toBeLessThan(waiting + 64 * 1024)
    slow.response.resume()
    await eventually(async () => !stuck.writableNeedDrain, { what: 'a reader' })
    clock.advance(UPDATE_MS)
    await haveSeen([quick], update + 1)
    const isWhole = () => slow.updates.at(-1)?.history.series[0].values.length === 61
    await eventually(async () => isWhole(), { what: 'all of the history' })
    expect(slow.count).toBeLessThan(quick.count)
  })
})

test('the size of an update does not grow with the watched data', async () => {
  const base = fleet.snapshot()
  const many = <T>(of: readonly T[], count: number) => Array.from({ length: count }, () => of[0])
  const key = { id: 'k'.repeat(1_000_000), key: 'k'.repeat(1_000_000), count: 1, error: 0 }
  const sample = { labels: { of: 'l'.repeat(1_000_000) }, value: 1 }
  const source = {
    name: 's'.repeat(1_000_000),
    help: 'h'.repeat(1_000_000),
    type: 'gauge',
    samples: many([sample], 1_000),
  }
  const policy = {
    ...base.policies[0],
    name: 'n'.repeat(1_000_000),
    topAllowed: many([key], 100),
    topDenied: many([key], 100),
  }
  const huge = new WatchedFleet({
    policies: many([policy], 1_000),
    routes: many(base.routes, 5_000),
    caps: many(base.caps, 5_000),
    processes: many(base.processes, 5_000),
    events: many([{ at: 0, name: 'e', text: 't'.repeat(1_000_000) }], 500),
    history: { ...base.history, series: many(base.history.series, 4_000), caps: many(base.history.caps, 4_000) },
    sources: many([source as InsightSnapshot['sources'][number]], 1_000),
    uniques: { hour: 1, day: 1, byRoute: many([{ route: '/', method: 'GET', hour: 1, day: 1 }], 1e5) },
  })
  const other = await listening(dashboard({ insight: huge }))
  const { text } = await ask(other.port, '/stream')
  await other.stop()
  expect(text.length).toBeLessThan(640 * 1024)
})
