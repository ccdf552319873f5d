import { type ClientHttp2Session, connect, createServer, type Http2Server, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Dashboard, dashboard } from '@sluice/insight'
import { FakeClock } from '@sluice/testkit'
import { WatchedFleet } from '../../insight/page/simulated-fleet.ts'
import { eventually } from '../../services/eventually.ts'

const UPDATE_MS = 250

let clock: FakeClock
let fleet: WatchedFleet
let page: Dashboard
let server: Http2Server
let client: ClientHttp2Session

beforeEach(async () => {
  clock = new FakeClock()
  fleet = new WatchedFleet()
  fleet.events = Array.from({ length: 100 }, () => ({ at: 0, name: 'e'.repeat(160), text: 't'.repeat(1_600) }))
  page = dashboard({ insight: fleet, updateMs: UPDATE_MS, clock })
  server = createServer()
  server.on('request', page as unknown as (req: unknown, res: Http2ServerResponse) => void)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  client = connect(`http://localhost:${(server.address() as AddressInfo).port}`)
})

afterEach(async () => {
  page.close()
  client.destroy()
  await new Promise((resolve) => server.close(resolve))
})

/** Opens the stream without reading it, and returns the response of the server. */
async function stalled(): Promise<Http2ServerResponse> {
  const opened = new Promise<Http2ServerResponse>((resolve) => server.once('request', (_req, res) => resolve(res)))
  client
    .request({ ':path': '/stream' })
    .pause()
    .on('error', () => {})
  const res = await opened
  // until the client has received as much as it accepts on a stream that is not read
  let waiting = -1
  await eventually(
    async () => {
      const before = waiting
      waiting = res.writableLength
      await new Promise((resolve) => client.ping(resolve))
      return res.headersSent && waiting === before
    },
    { what: 'a full window' },
  )
  return res
}

describe('a viewer over HTTP/2 that does not read', () => {
  test('is sent nothing more', async () => {
    const res = await stalled()
    for (let update = 0; update < 10; update++) clock.advance(UPDATE_MS)
    const first = res.writableLength
    expect(first).toBeGreaterThan(0)
    for (let update = 0; update < 100; update++) clock.advance(UPDATE_MS)
    expect(res.writableLength).toBe(first)
  })

  test('is disconnected after a minute', async () => {
    const res = await stalled()
    for (let update = 0; update <= 61_000 / UPDATE_MS; update++) clock.advance(UPDATE_MS)
    await eventually(async () => res.stream?.destroyed !== false, { what: 'the end of the stream' })
    await eventually(async () => clock.pending === 0, { what: 'no viewer' })
  })
})
