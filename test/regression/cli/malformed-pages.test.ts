import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { sluice } from '../../cli/run-sluice.ts'

let server: Server
afterEach(() => new Promise((resolve) => server.close(resolve)))

async function serve(type: string, body: string): Promise<string> {
  server = createServer((_req, res) => res.writeHead(200, { 'Content-Type': type, Connection: 'close' }).end(body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/limits`
}

const update = {
  ...{ at: 0, deniedShare: 0, isWholeFleet: false, processes: [], controls: [], ratePerSecond: { now: 0 } },
  ...{ policies: [], caps: [], backends: [] },
}

test('sluice watch shows an update', async () => {
  const url = await serve('text/event-stream', `data: ${JSON.stringify(update)}\n\n`)
  expect(await sluice(['watch', url, '--once'])).toMatchObject({ exitCode: 0, stderr: '' })
})

// regression: the command ended with a RangeError and its stack
test('sluice watch refuses an update with a time that no date can have', async () => {
  const url = await serve('text/event-stream', `data: ${JSON.stringify({ ...update, at: 1e300 })}\n\n`)
  const { exitCode, stderr } = await sluice(['watch', url, '--once'])
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('received an update of another release')])
})

const explanation = { key: 'a', at: 0, cost: 1, summary: ['allowed'], controls: [], denials: [] }

test('sluice explain shows an explanation', async () => {
  const url = await serve('application/json', JSON.stringify(explanation))
  expect(await sluice(['explain', url, 'a'])).toMatchObject({ exitCode: 0, stderr: '' })
})

// regression: the command ended with a TypeError and its stack
test.each([
  ['summary', [{ toString: 1 }]],
  ['controls', [null]],
  ['denials', [{ at: 0, policy: 5, route: '', method: '', times: 1 }]],
])('sluice explain refuses an explanation with malformed %s', async (field, value) => {
  const url = await serve('application/json', JSON.stringify({ ...explanation, [field]: value }))
  const { exitCode, stderr } = await sluice(['explain', url, 'a'])
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('received an explanation of another release')])
})
