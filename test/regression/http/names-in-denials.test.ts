import 'reflect-metadata'
import { expect, test } from '@jest/globals'
import { Catch, Controller, type ExceptionFilter, Get, UseGuards } from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as nestLimit, SluiceDenied, SluiceModule } from '@sluice/nest'
import { FakeClock } from '@sluice/testkit'
import express, { type NextFunction, type Request, type Response } from 'express'
import request from 'supertest'
import { nestApp } from '../../nest/nest-app.ts'

const clock = new FakeClock()
const unnamed = { window: '1m', algorithm: 'fixed-window', clock } as const

test('in the error that Express receives', async () => {
  const app = express()
  app.use(expressLimit({ ...unnamed, limit: 9 }), expressLimit({ ...unnamed, limit: 1, next: true }))
  app.get('/', (_req, res) => {
    res.send('ok')
  })
  app.use((error: Error, _req: Request, res: Response, _next: NextFunction) => {
    res.send(error.message)
  })
  await request(app).get('/')
  const { text, headers } = await request(app).get('/')
  expect([text, headers.ratelimit]).toEqual(['SLUICE_DENIED: denied by default-2', '"default-2";r=0;t=60'])
})

test('in the exception that Nest receives', async () => {
  const seen: unknown[] = []
  class Filter implements ExceptionFilter<SluiceDenied> {
    catch(denied: SluiceDenied): never {
      seen.push([denied.message, denied.extensions.violatedPolicies, denied.getResponse()])
      throw denied
    }
  }
  Catch(SluiceDenied)(Filter)
  class Site {
    answer(): string {
      return 'ok'
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Site.prototype, 'answer') as PropertyDescriptor
  UseGuards(nestLimit({ ...unnamed, limit: 1 }))(Site.prototype, 'answer', descriptor)
  Get('/')(Site.prototype, 'answer', descriptor)
  Controller()(Site)
  const app = await nestApp('Express', {
    imports: [SluiceModule.forRoot({ rateLimit: { ...unnamed, limit: 9 } })],
    controllers: [Site],
    providers: [{ provide: APP_FILTER, useClass: Filter }],
  })
  for (let times = 0; times < 2; times++) await fetch(`http://127.0.0.1:${app.port}/`)
  await app.close()
  const shown = { 'violated-policies': ['default-2'] }
  expect(seen.at(0)).toEqual(['denied by default-2', ['default-2'], expect.objectContaining(shown)])
})
