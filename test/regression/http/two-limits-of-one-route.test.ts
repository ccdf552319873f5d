import 'reflect-metadata'
import { describe, expect, test } from '@jest/globals'
import { Controller, Get, type Type } from '@nestjs/common'
import { InflightLimit, type LimitDecorator, RateLimit, SluiceModule, type SluiceModuleOptions } from '@sluice/nest'
import { FakeClock } from '@sluice/testkit'
import { nestApp } from '../../nest/nest-app.ts'

/** A method decorated in the given order. */
function site(...decorators: readonly LimitDecorator[]): Type {
  class Site {
    answer(): string {
      return 'ok'
    }
  }
  const { prototype } = Site
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'answer') as PropertyDescriptor
  for (const decorator of [Get('/'), ...decorators].reverse()) decorator(prototype, 'answer', descriptor)
  Controller()(Site)
  return Site
}

interface Answered {
  readonly status: number
  readonly policies: readonly string[]
}

async function asked(controller: Type, times: number, options: SluiceModuleOptions = {}): Promise<Answered[]> {
  const app = await nestApp('Express', { imports: [SluiceModule.forRoot(options)], controllers: [controller] })
  const answers: Answered[] = []
  for (let time = 0; time < times; time++) {
    const { status, headers } = await fetch(`http://127.0.0.1:${app.port}/`, { headers: { 'x-user': `user ${time}` } })
    const names = [...(headers.get('ratelimit-policy') ?? '').matchAll(/"([^"]+)"/g)].map(([, name]) => name)
    answers.push({ status, policies: names })
  }
  await app.close()
  return answers
}

const clock = new FakeClock()
const ONE = { limit: 1, window: '1m', algorithm: 'fixed-window', clock } as const
const byUser = (request: { headers: Record<string, string> }) => request.headers['x-user']
const statuses = (answers: readonly Answered[]) => answers.map(({ status }) => status)

describe('two rate limits on one method', () => {
  test.each([
    ['mode', { mode: 'shadow' }],
    ['mode off', { mode: 'off' }],
    ['key', { key: byUser }],
    ['skip', { skip: () => true }],
  ] as const)('have separate %s options', async (_what, own) => {
    const other = RateLimit({ ...ONE, name: 'other' })
    const odd = RateLimit({ ...ONE, name: 'odd', ...own })
    expect(statuses(await asked(site(odd, other), 2))).toEqual([200, 429])
    expect(statuses(await asked(site(other, odd), 2))).toEqual([200, 429])
  })

  test('have separate answers', async () => {
    const odd = RateLimit({ ...ONE, limit: 9, name: 'odd', status: 403, headers: 'none' })
    const other = RateLimit({ ...ONE, name: 'other' })
    const [passed, denied] = await asked(site(odd, other), 2)
    expect(passed).toEqual({ status: 200, policies: ['other'] })
    expect(denied).toEqual({ status: 429, policies: ['other'] })
  })

  test('each use the module options for options that they do not set', async () => {
    const odd = RateLimit({ ...ONE, limit: 9, name: 'odd', key: byUser, status: 403 })
    const other = RateLimit({ limit: 1, window: '1m', name: 'other' })
    const all = { rateLimit: { ...ONE, limit: 9, status: 420, key: () => 'all' } } as const
    expect(statuses(await asked(site(odd, other), 2, all))).toEqual([200, 420])
  })

  test('next to a named one of the module count the same as alone', async () => {
    const policies = [{ ...ONE, limit: 9, name: 'login', clock: undefined }] as const
    const options = { clock, policies: policies.map(({ clock: _clock, ...policy }) => policy) }
    expect(statuses(await asked(site(RateLimit('login'), RateLimit({ ...ONE, name: 'other' })), 2, options))).toEqual([
      200, 429,
    ])
  })
})

test('of two caps on one method the one in shadow mode leaves the other enforced', async () => {
  const shadow = InflightLimit({ name: 'shadow', limit: 9, mode: 'shadow' })
  const enforced = InflightLimit({ name: 'enforced', limit: 1, key: () => 'all', weight: () => 2 })
  expect(statuses(await asked(site(shadow, enforced), 1))).toEqual([503])
})
