import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import express from 'express'
import request from 'supertest'
import { settings } from './compiled-controllers.ts'
import { appOf, ExpressStage, left, serving, statuses } from './express-stage.ts'

describe.each(settings)('Express under %s decorators', (setting) => {
  const stage = new ExpressStage(setting)

  beforeAll(() => stage.compile(), 60_000)
  beforeEach(() => stage.set())
  afterEach(() => stage.strike())
  afterAll(() => stage.close())

  test('a method is limited, keeps its this, and admits a client that waits as long as Retry-After says', async () => {
    const app = serving(new stage.classes.Users('anna'), 'list')
    const passed = await request(app).get('/list')
    expect([passed.text, left(passed)]).toEqual(['users of anna', '"default";r=1'])
    expect(await statuses(app, '/list', '/list')).toEqual([200, 429])
    const denied = await request(app).get('/list')
    expect(denied.headers['content-type']).toBe('application/problem+json')
    stage.clock.advance(Number(denied.headers['retry-after']) * 1_000)
    expect(await statuses(app, '/list')).toEqual([200])
    expect(stage.warnings.texts).toEqual([])
  })

  test('all instances share the limiter of a method, and another method has its own', async () => {
    const anna = serving(new stage.classes.Users('anna'), 'list', 'stacked')
    const bert = serving(new stage.classes.Users('bert'), 'list')
    expect(await statuses(anna, '/list')).toEqual([200])
    expect(await statuses(bert, '/list', '/list')).toEqual([200, 429])
    expect(await statuses(anna, '/list', '/stacked')).toEqual([429, 200])
  })

  test('the rejection of an async method is handled as without a limit', async () => {
    const users = new stage.classes.Users('anna')
    const app = appOf({ '/:id': (req, res, next) => users.find(req as never, res, next) })
    const failed = await request(app).get('/0')
    expect([failed.status, failed.text]).toEqual([500, 'no such user'])
    expect((await request(app).get('/7')).text).toBe('7 of anna')
    expect(await statuses(app, '/7')).toEqual([429])
  })

  test('all stacked decorators count, the topmost first', async () => {
    const app = serving(new stage.classes.Users('anna'), 'stacked')
    expect(left(await request(app).get('/stacked'))).toBe('"outer";r=0, "inner";r=4')
    expect(left(await request(app).get('/stacked'))).toBe('"outer";r=0')
    stage.clock.advance(120_000)
    // the denied request never reached the inner limiter
    expect(left(await request(app).get('/stacked'))).toBe('"outer";r=0, "inner";r=3')
  })

  test('a cap also waits for the promise of the method', async () => {
    const app = serving(new stage.classes.Users('anna'), 'work')
    expect((await request(app).get('/work')).text).toBe('begun')
    expect(await statuses(app, '/work')).toEqual([503])
    expect(stage.begun).toBe(1)
    stage.finish()
    expect(await statuses(app, '/work')).toEqual([200])
  })

  test('a cap created beforehand reports held permits, and releases each once', async () => {
    const { limiter } = stage.classes.places
    const app = serving(new stage.classes.Users('anna'), 'workOnAPlace')
    expect(left(await request(app).get('/workOnAPlace'))).toBe('"default";r=8')
    expect(limiter.count()).toBe(1)
    stage.finish()
    await until(() => limiter.count() === 0)
  })

  test('a slowed method runs when its delay is over', async () => {
    const app = serving(new stage.classes.Users('anna'), 'slow')
    expect(await statuses(app, '/slow')).toEqual([200])
    const pending = stage.clock.pending
    const second = request(app)
      .get('/slow')
      .then(({ text }) => text)
    await until(() => stage.clock.pending === pending + 1)
    stage.clock.advance(999)
    expect(stage.clock.pending).toBe(pending + 1)
    stage.clock.advance(1)
    expect(await second).toBe('slow anna')
  })

  test.each([
    ['with next', 3],
    ['without next', 2],
  ])('an error thrown by a delayed method reaches the error handler, called %s', async (_how, handedOn) => {
    const users = new stage.classes.Users('anna')
    const app = appOf({ '/': (...args) => users.failLate(...(args.slice(0, handedOn) as typeof args)) })
    const pending = stage.clock.pending
    const failed = request(app)
      .get('/')
      .then(({ status, text }) => [status, text])
    await until(() => stage.clock.pending === pending + 1)
    stage.clock.advance(1_000)
    expect(await failed).toEqual([500, 'too late'])
  })

  test('a limiter created beforehand is shared by the methods that use it, and can be inspected and reset', async () => {
    const app = serving(new stage.classes.Users('anna'), 'one', 'two')
    const { limiter } = stage.classes.shared
    expect(await statuses(app, '/one', '/two', '/two')).toEqual([200, 200, 429])
    expect(limiter.peek('127.0.0.1')).toMatchObject({ allowed: false })
    await limiter.reset('127.0.0.1')
    expect(await statuses(app, '/one')).toEqual([200])
    stage.classes.shared.close()
  })

  test('a decorator applied to two methods creates a limiter for each', async () => {
    const app = serving(new stage.classes.Users('anna'), 'three', 'four')
    expect(await statuses(app, '/three', '/three', '/four', '/four')).toEqual([200, 429, 200, 429])
  })

  test('a static method is limited, and its this is the class', async () => {
    const app = serving(stage.classes.Users, 'version')
    expect((await request(app).get('/version')).text).toBe('version of true')
    expect(await statuses(app, '/version')).toEqual([429])
  })

  test('a method that calls next is a limited middleware', async () => {
    const users = new stage.classes.Users('anna')
    const app = express()
    app.use((req, res, next) => users.passOn(req, res, next))
    app.get('/', (_req, res) => {
      res.send('passed')
    })
    expect(await statuses(app, '/?free', '/?free', '/', '/', '/', '/?free')).toEqual([200, 200, 200, 200, 429, 200])
  })

  test('wrapped methods keep their names and parameter counts', () => {
    const { Users } = stage.classes
    const { list, find, greeting } = Users.prototype
    expect([list, find, greeting, Users.version].map(({ name, length }) => [name, length])).toEqual([
      ['list', 2],
      ['find', 3],
      ['greeting', 2],
      ['version', 2],
    ])
  })

  test('a call without a request runs uncounted, and is warned about once', async () => {
    const users = new stage.classes.Users('anna')
    const app = serving(users, 'greeting')
    expect([users.greeting(), users.greeting()]).toEqual(['hello from anna', 'hello from anna'])
    expect(stage.warnings.texts).toEqual([
      expect.stringContaining(
        '@RateLimit greeting: expected the request and the response of the framework, received no arguments; the call is not counted',
      ),
    ])
    expect(await statuses(app, '/greeting', '/greeting')).toEqual([200, 429])
  })

  test('SLUICE_MODE=off accepts mock requests without a warning', async () => {
    process.env.SLUICE_MODE = 'off'
    try {
      await stage.set()
      const { Users } = stage.classes
      const sent: unknown[] = []
      const response = { send: (body: unknown) => sent.push(body) }
      for (let call = 0; call < 3; call++) new Users('anna').list({ headers: {} } as never, response as never)
      expect(sent).toEqual(Array(3).fill('users of anna'))
      expect(stage.warnings.codes).toEqual([])
    } finally {
      delete process.env.SLUICE_MODE
    }
  })

  test('type metadata that the compiler emits is found on the method', () => {
    const { getMetadata } = Reflect as { getMetadata?(key: string, target: object, name: string): unknown[] }
    const found = getMetadata?.('design:paramtypes', stage.classes.Users.prototype, 'list')
    expect(found?.length).toBe(setting === 'metadata' ? 2 : undefined)
  })
})
