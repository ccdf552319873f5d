// Runtimes that pass on every method let a client fill the table of routes with methods that it invents.

import { expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { RecentDenials } from '../../../packages/insight/src/live/process/recent-denials.ts'
import { RouteTable } from '../../../packages/insight/src/live/report/route-table.ts'

test('methods that a client invents do not take the places of routes', () => {
  const table = new RouteTable((name) => name)
  table.of('/early', 'GET')
  for (let turn = 0; turn < 1_000; turn++) table.of(undefined, `M${turn}`)
  expect(table.of('/late', 'GET')).toEqual({ route: '/late', method: 'GET' })
  expect(table.of(undefined, 'M999')).toEqual({ route: '(none)', method: '_OTHER' })
  expect(table.values().length).toBe(42)
})

test('a long method of a denied request is kept shortened', () => {
  const denials = new RecentDenials(new FakeClock())
  const binding = { allowed: false, policy: { name: 'api' }, shadow: false }
  denials.decided('key', { binding } as never, { method: 'M'.repeat(8_000), route: undefined } as never)
  expect(denials.of('key')[0].method.length).toBe(128)
})
