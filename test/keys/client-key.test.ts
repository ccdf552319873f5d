import { describe, expect, test } from '@jest/globals'
import { clientKey, rateLimit } from '@sluice/express'
import express from 'express'
import request from 'supertest'

describe('the key of a client', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:5678', '192.0.2.1'],
    ['2001:db8:1:2ff::1', '2001:db8:1:200::/56'],
    ['[2001:db8:1:2ff::1]:443', '2001:db8:1:200::/56'],
    ['no address', 'no-address'],
    ['', 'no-address'],
    [undefined, 'no-address'],
  ])('of %p is %p', (address, key) => {
    expect(clientKey(address)).toBe(key)
  })

  test('applies the options of byIp, also on repeated calls', () => {
    const options = { ipv6Prefix: 64 }
    for (let times = 0; times < 2; times++) expect(clientKey('2001:db8:1:2ff::1', options)).toBe('2001:db8:1:2ff::/64')
  })

  test('rejects options that byIp rejects', () => {
    expect(() => clientKey('::1', { ipv6Prefix: 0 })).toThrow('SLUICE_BAD_OPTION')
    expect(() => clientKey('::1', 64 as never)).toThrow('SLUICE_BAD_OPTION')
  })

  test('is the key that a limit uses by default', async () => {
    const keys: string[] = []
    const decided = (key: string): void => void keys.push(key)
    const app = express().use(rateLimit({ limit: 1, window: '1m', observers: [{ decided }] }))
    await request(app).get('/')
    expect(keys).toEqual([clientKey('127.0.0.1')])
  })
})
