import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import request from 'supertest'
import { settings } from './compiled-controllers.ts'
import { ExpressStage, left, serving, statuses } from './express-stage.ts'

describe.each(settings)('subclasses under %s decorators', (setting) => {
  const stage = new ExpressStage(setting)

  beforeAll(() => stage.compile(), 60_000)
  beforeEach(() => stage.set())
  afterEach(() => stage.strike())
  afterAll(() => stage.close())

  test('inherited methods share the count of the base class', async () => {
    const base = serving(new stage.classes.Users('base'), 'list')
    const heir = serving(new stage.classes.Inheriting('heir'), 'list')
    expect(await statuses(base, '/list')).toEqual([200])
    expect((await request(heir).get('/list')).text).toBe('users of heir')
    expect(await statuses(heir, '/list')).toEqual([429])
    expect(await statuses(base, '/list')).toEqual([429])
  })

  test('an overriding method without a decorator is not limited', async () => {
    const app = serving(new stage.classes.Overriding('anna'), 'list')
    expect(await statuses(app, ...Array(5).fill('/list'))).toEqual(Array(5).fill(200))
  })

  test('an overriding method with a decorator has its own count', async () => {
    const base = serving(new stage.classes.Users('base'), 'one')
    const heir = serving(new stage.classes.Overriding('heir'), 'one')
    expect(await statuses(heir, ...Array(4).fill('/one'))).toEqual([200, 200, 200, 429])
    expect(await statuses(base, '/one')).toEqual([200])
  })

  test('a call of the base method also counts towards its limits, each once', async () => {
    const app = serving(new stage.classes.Overriding('anna'), 'two', 'stacked')
    expect(await statuses(app, '/two', '/two', '/two')).toEqual([200, 200, 429])
    expect(left(await request(app).get('/stacked'))).toBe('"above";r=2, "outer";r=0, "inner";r=4')
    expect(left(await request(app).get('/stacked'))).toBe('"outer";r=0')
    expect(stage.warnings.codes).toEqual([])
  })
})
