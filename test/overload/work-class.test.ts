import { describe, expect, test } from '@jest/globals'
import { workClassOf } from '../../packages/http/src/gates/caps/work-class.ts'

const classOf = (url: unknown, method = 'GET'): string => workClassOf({ method, route: undefined, raw: { url } })

describe('the class of a request whose route is not known', () => {
  test.each([
    ['/', ''],
    ['/api/orders/list/open', 'api/orders/list'],
    ['/api/orders/17?page=2', 'api/orders/:'],
    ['//api///orders', 'api/orders'],
    ['/api;v=1/orders', 'api'],
    ['/api#part', 'api'],
    [`/${'a'.repeat(32)}/${'a'.repeat(33)}`, `${'a'.repeat(32)}/:`],
    ['http://example.org/api/orders', 'api/orders'],
    ['http://example.org?x=/y', ''],
    [`${'/'.repeat(10)}API`, 'api'],
    ['/%61pi/./orders', 'api/orders'],
    [undefined, ''],
  ])('%s is GET %s', (url, path) => {
    expect(classOf(url)).toBe(`GET ${path}`)
    expect(classOf(url, 'POST')).toBe(`POST ${path}`)
    expect(classOf(url)).toBe(`GET ${path}`)
  })

  test('is the same after thousands of other targets', () => {
    for (let path = 0; path < 3_000; path++) expect(classOf(`/a${path}/b?c=${path}`)).toBe('GET :/b')
    expect(classOf('/api/orders')).toBe('GET api/orders')
  })
})
