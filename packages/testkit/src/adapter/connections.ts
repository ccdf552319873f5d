import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { TestRunner } from '../suite-runner.ts'
import { rate } from './stage/app-description.ts'
import { ok, type Site, type Stage } from './stage/stage.ts'
import { until } from './stage/until.ts'

const KIB = 1_024
const UPLOAD_BYTES = 20 * KIB * KIB
// the capacity of two kernel buffers of a loopback connection without a reader
const BUFFERED_BYTES = 14 * KIB * KIB

/** What happens to the connection of a denied request. */
export function connections({ describe, test }: TestRunner, stage: Stage): void {
  describe('the connection of a denied request', () => {
    test('stays open and is used again', () => keptAlive(stage))
    test('stays open if at most 64 KiB of the body are unread', () => smallUpload(stage))
    test('is closed if more of the body is unread', () => largeUpload(stage, `Content-Length: ${64 * KIB + 1}`))
    test('is closed if the length of the unread body is unknown', () =>
      largeUpload(stage, 'Transfer-Encoding: chunked'))
    test('is closed without reading an upload of 20 MB', () => hugeUpload(stage))
  })
}

/** A site that denies every request. */
async function denying(stage: Stage): Promise<Site> {
  return stage.behind([rate({ limit: 1, window: '1m', cost: () => 2 })], ok)
}

async function keptAlive(stage: Stage): Promise<void> {
  const site = await stage.behind([rate({ limit: 2, window: '1m', cost: (req) => Number(req.header('x-cost')) })])
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const costs = ['1', '9', '1', '1']
  const answers = []
  for (const cost of costs) answers.push(await site.ask({ agent, headers: { 'x-cost': cost } }))
  agent.destroy()
  assert.deepEqual(
    answers.map(({ status, reused }) => [status, reused]),
    [
      [200, false],
      [429, true],
      [200, true],
      [429, true],
    ],
  )
}

async function smallUpload(stage: Stage): Promise<void> {
  const site = await denying(stage)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (const reused of [false, true]) {
    const answer = await site.ask({ agent, method: 'POST', body: Buffer.alloc(64 * KIB) })
    assert.equal(answer.status, 429)
    assert.equal(answer.headers.connection, 'keep-alive')
    assert.equal(answer.reused, reused)
  }
  agent.destroy()
}

/** Sends the headers of an upload, and returns the received data once the server has closed the connection. */
async function uploadHead(
  site: Site,
  line: string,
): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> {
  const socket = connect(site.port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let text = ''
  socket.on('error', () => {})
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  await once(socket, 'connect')
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`)
  return { socket, received: () => text, closed }
}

async function largeUpload(stage: Stage, line: string): Promise<void> {
  const { received, closed } = await uploadHead(await denying(stage), line)
  await closed
  assert.match(received(), /^HTTP\/1\.1 429 Too Many Requests\r\n/)
  assert.match(received(), /\r\nconnection: close\r\n/i)
}

async function hugeUpload(stage: Stage): Promise<void> {
  const site = await denying(stage)
  const { socket, received } = await uploadHead(site, `Content-Length: ${UPLOAD_BYTES}`)
  const chunk = Buffer.alloc(64 * KIB)
  const upload = (): void => {
    while (!socket.destroyed && socket.bytesWritten < UPLOAD_BYTES) if (!socket.write(chunk)) return
  }
  socket.on('drain', upload)
  upload()
  await until(() => received().includes('\r\n\r\n'), { what: 'the answer' })
  await until(() => socket.destroyed || socket.writableEnded, { what: 'the end of the connection' })
  assert.match(received(), /^HTTP\/1\.1 429 /)
  assert.ok(socket.bytesWritten - socket.writableLength < BUFFERED_BYTES, `${socket.bytesWritten} bytes were taken`)
}
