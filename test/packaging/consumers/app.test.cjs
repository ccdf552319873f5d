const { once } = require('node:events')
const { rateLimit } = require('@sluice/express')
const express = require('express')

test('a user tests a limited app with CommonJS jest', async () => {
  const app = express()
  app.use(rateLimit({ limit: 1, window: '1m' }))
  app.get('/', (_req, res) => res.send('hello'))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`

  const passed = await fetch(url)
  const denied = await fetch(url)
  server.close()

  expect(passed.status).toBe(200)
  expect(denied.status).toBe(429)
  expect(Number(denied.headers.get('retry-after'))).toBeGreaterThan(0)
})
