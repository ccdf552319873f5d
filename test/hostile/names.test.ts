import { expect, test } from '@jest/globals'
import { RateGate } from '@sluice/http'
import { createInflightLimiter, createLimiter, type RequestView } from '@sluice/limiter-core'
import { policyItems } from '@sluice/limiter-core/http'
import { codeOf } from '../code-of.ts'

const badNames = [
  '',
  'é',
  'a\nb',
  'a\r\nSet-Cookie: a=b',
  'a\0',
  'a\u007f',
  'name\n',
  '\ud800',
  'x'.repeat(129),
  '\u2028',
]

test.each(badNames)('%j is rejected as the name of a policy, a unit and a cap', (name) => {
  expect(codeOf(() => createLimiter({ policies: [{ name, limit: 1, window: '1m' }] }))).toBe('SLUICE_BAD_NAME')
  expect(codeOf(() => createLimiter({ policies: [{ unit: name, limit: 1, window: '1m' }] }))).toBe('SLUICE_BAD_NAME')
  expect(codeOf(() => createInflightLimiter({ name, limit: 1 }))).toBe('SLUICE_BAD_NAME')
})

test('quotes and backslashes in a name are escaped in headers', () => {
  const { policies } = createLimiter({ policies: [{ name: '";w=0, "\\', unit: '"\\', limit: 1, window: '1m' }] })
  expect(policyItems(policies)).toBe('"\\";w=0, \\"\\\\";q=1;qu="\\"\\\\";w=60')
})

test.each(['a\r\nSet-Cookie: b=c', '\0', '\ud800', 'é', '"', 'x'.repeat(10_000)])(
  'the key %j appears in no header, except as a base64 partition key',
  async (key) => {
    const view: RequestView = { ip: key, method: 'GET', route: key, header: () => key, raw: {} }
    const guard = new RateGate({ limit: 1, window: '1m', key: () => key, partitionKey: { secret: 'secret' } })
    await guard.check(view)
    const check = await guard.check(view)
    expect(check?.denial?.status).toBe(429)
    expect(check?.entries[0].rateItems).toMatch(/^"default";r=0;t=\d+;pk=:[\w+/]{12}:$/)
    expect(check?.denial?.body).toMatch(/^[\x20-\x7e]+$/)
  },
)
