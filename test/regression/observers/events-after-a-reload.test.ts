import { afterEach, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import type { Observer } from '@sluice/limiter-core'
import { policies } from '@sluice/policies'
import express, { type Request, type Response } from 'express'
import request from 'supertest'
import { closeBenches, failoverBench, serverError } from '../../failover/flaky-backend.ts'
import { TextSource } from '../../policies/text-source.ts'

afterEach(closeBenches)

const document = (limit: number): string => JSON.stringify({ version: 1, policies: [{ name: 'a', limit, per: '1m' }] })

test('observers receive the events of a backend after the policies of its limiter have changed', async () => {
  const { flaky, clock } = failoverBench()
  const events: string[] = []
  const observer: Observer = { event: (name) => void events.push(name) }
  const source = new TextSource(document(100))
  const options = policies<Request, Response>(source, {})
  const limit = rateLimit({ ...options, backend: flaky, clock, observers: [observer] })
  const app = express().use(limit, (_req, res) => void res.send('ok'))
  const fail = async (): Promise<boolean> => {
    events.length = 0
    flaky.condition = serverError('CONNECTION')
    for (let times = 0; times < 10; times++) await request(app).get('/')
    return events.includes('breaker')
  }
  expect(await fail()).toBe(true)
  flaky.condition = 'well'
  clock.advance(1_000)
  await request(app).get('/')
  await request(app).get('/')
  source.text = document(200)
  await options.policies.reload()
  clock.advance(1_000)
  await request(app).get('/')
  await request(app).get('/')
  expect(await fail()).toBe(true)
  limit.close()
  events.length = 0
  flaky.tell('lost')
  expect(events).toEqual([])
})
