import { connect } from 'node:net'
import { expect, test } from '@jest/globals'
import { byHeader, createSluice } from '@sluice/express'
import { FakeClock, hostileKeys } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'
import { served } from './served.ts'

test('hostile keys from a request body are ordinary keys, each with its own count', async () => {
  const { rateLimit } = createSluice({ clock: new FakeClock() })
  const app = express()
  app.use(express.json({ limit: '4mb' }))
  const secret = 'of the servers alone'
  const key = (req: express.Request): string => req.body.user
  app.post('/', rateLimit({ limit: 2, window: '1m', key, partitionKey: { secret } }), (_req, res) => {
    res.send('ok')
  })
  const users = [...new Set([...hostileKeys, 'x'.repeat(1_000_000), 'toString', 'a', 'a\r\nSet-Cookie: b', '12345'])]
  const before = Object.getOwnPropertyNames(Object.prototype)
  for (const user of users) {
    const seen: number[] = []
    for (let asked = 0; asked < 3; asked++) {
      const { status, headers } = await request(app).post('/').send({ user })
      seen.push(status)
      expect(headers['set-cookie']).toBeUndefined()
      expect(headers.ratelimit).toMatch(/^"default";r=\d;t=\d+;pk=:[\w+/]{12}:$/)
    }
    expect({ user: user.slice(0, 40), seen }).toEqual({ user: user.slice(0, 40), seen: [200, 200, 429] })
  }
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
})

test('a repeated header is not used as a key, so that an added value does not create a new client', async () => {
  const { rateLimit } = createSluice({ clock: new FakeClock() })
  const app = express()
  app.get('/', rateLimit({ limit: 2, window: '1m', key: byHeader('x-api-key') }), (_req, res) => {
    res.send('ok')
  })
  await served(app, async (url) => {
    const seen: string[] = []
    for (let junk = 0; junk < 3; junk++) {
      seen.push(
        await statusLine(
          url,
          `GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: valid\r\nX-Api-Key: junk${junk}\r\nConnection: close\r\n\r\n`,
        ),
      )
    }
    expect(seen).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 429 Too Many Requests'])
  })
})

/** Sends raw bytes, and returns the first line of the response. */
function statusLine(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('latin1').on('data', (data) => {
      text += data
    })
    socket.on('close', () => resolve(text.split('\r\n')[0]))
    socket.on('error', reject)
  })
}
