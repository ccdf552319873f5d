import { realpathSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import { Reports } from './reports.ts'

export function createApp(): Express {
  const reports = new Reports()
  const app = express()
  app.get('/reports', reports.list.bind(reports))
  app.post('/reports/:name', reports.build.bind(reports))
  app.get('/search', reports.search.bind(reports))
  return app
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  // Express 5 reports only to the callback that the port is taken
  const server = createApp().listen(Number(process.env.PORT || 8080), (error?: Error) => {
    if (error) throw error
    console.log(`reports: http://localhost:${(server.address() as AddressInfo).port}/reports`)
  })
}
