import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import express, { type Express, type RequestHandler } from 'express'
import request from 'supertest'
import { CompiledControllers } from './compiled-controllers.ts'
import type * as Controllers from './controllers/standard-only.ts'

let compiled: CompiledControllers
let Users: ReturnType<typeof Controllers.standardControllers>

beforeAll(async () => {
  compiled = await CompiledControllers.of('standard')
})
beforeEach(async () => {
  const { standardControllers } = await compiled.load<typeof Controllers>('standard-only')
  Users = standardControllers(new FakeClock())
})
afterAll(() => compiled[Symbol.dispose]())

const serving = (handler: RequestHandler): Express => express().get('/', handler)
const statusOf = async (app: Express): Promise<number> => (await request(app).get('/')).status

test('a field that holds a handler is limited, needs no bind, and shares its limiter with all instances', async () => {
  expect((await request(serving(new Users('anna').list)).get('/')).text).toBe('users of anna')
  expect(await statusOf(serving(new Users('bert').list))).toBe(429)
})

test('all stacked decorators of a field count, the lowest first, because it wraps the value last', async () => {
  const { headers } = await request(serving(new Users('anna').list)).get('/')
  expect(headers['ratelimit-policy']).toBe('"lower";q=5;w=3600, "upper";q=1;w=60')
})

test('a field of a type of the framework is limited', async () => {
  const app = serving(new Users('anna').typed)
  expect((await request(app).get('/')).text).toBe('typed of anna')
  expect(await statusOf(app)).toBe(429)
})

test('a static field is limited', async () => {
  const app = serving(Users.version)
  expect((await request(app).get('/')).text).toBe('version')
  expect(await statusOf(app)).toBe(429)
})

test('a private method is limited, with its this', async () => {
  const users = new Users('anna')
  const app = serving((req, res) => users.find(req, res))
  expect((await request(app).get('/')).text).toBe('found by anna')
  expect(await statusOf(app)).toBe(429)
})
