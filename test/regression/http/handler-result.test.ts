import { expect, test } from '@jest/globals'
import { inflightLimit } from '@sluice/express'
import express, { type RequestHandler } from 'express'
import request from 'supertest'

test('a query that runs when it is awaited runs once with a cap around the handler', async () => {
  let runs = 0
  const query = {
    // biome-ignore lint/suspicious/noThenProperty: it is one on purpose
    then(resolve: (rows: string) => void): void {
      runs++
      resolve('rows')
    },
  }
  const app = express()
  const handler: RequestHandler = (_req, res) => {
    res.send('begun')
    return query as never
  }
  const limit = inflightLimit({ limit: 1 })
  app.get('/', limit.wrap(handler))
  expect((await request(app).get('/')).text).toBe('begun')
  expect((await request(app).get('/')).status).toBe(200)
  expect(runs).toBe(2)
})
