import assert from 'node:assert/strict'
import { describe, test } from '@jest/globals'
import { type ClientSource, explainSource } from '@sluice/http'
import { CHAINS } from './chains.ts'

function source(peer: string | undefined, headers: Readonly<Record<string, string>> = {}): ClientSource {
  return { ip: peer, peer, headerText: (name) => headers[name] }
}

describe('the client address behind a chain of proxies', () => {
  for (const { name, trust, requests } of CHAINS) {
    for (const { says, peer, headers, counts } of requests) {
      test(`${name}: ${says}`, () => {
        const { address, text } = explainSource(source(peer, headers), { trust })
        assert.equal(address, counts, text)
      })
    }
  }

  test('25 chains', () => assert.equal(CHAINS.length, 25))

  test('a very long header is read from its end', () => {
    const long = `${'10.0.0.1, '.repeat(100_000)}198.51.100.7`
    const started = performance.now()
    const { address } = explainSource(source('10.0.0.2', { 'x-forwarded-for': long }), { trust: 'nginx' })
    assert.equal(address, '198.51.100.7')
    assert.ok(performance.now() - started < 500)
  })
})

test('a Forwarded header of many quotes and commas takes no quadratic time', () => {
  const long = `for=198.51.100.7;x="${',"'.repeat(50_000)}`
  const started = performance.now()
  const trust = { ranges: ['10.0.0.2'], header: 'forwarded', hops: 16 }
  explainSource(source('10.0.0.2', { forwarded: long }), { trust })
  explainSource(source('10.0.0.2', { forwarded: '\\'.repeat(100_000) }), { trust })
  assert.ok(performance.now() - started < 500)
})

describe('an explanation', () => {
  test('names each step', () => {
    const headers = { 'cf-connecting-ip': '198.51.100.7', 'x-forwarded-for': '172.68.10.1' }
    assert.deepEqual(explainSource(source('172.18.0.2', headers), { trust: ['cloudflare', 'traefik'] }), {
      address: '198.51.100.7',
      key: '198.51.100.7',
      peer: '172.18.0.2',
      decidedBy: 'trust',
      text: [
        'Counted as 198.51.100.7.',
        '172.18.0.2 is a trusted proxy (traefik), and its header x-forwarded-for names 172.68.10.1.',
        '172.68.10.1 is a trusted proxy (cloudflare), and its header cf-connecting-ip names 198.51.100.7.',
        '198.51.100.7 is not trusted as a proxy, or no further hop is.',
      ].join('\n'),
    })
  })

  test('says that a peer is not a proxy', () => {
    const { decidedBy, text } = explainSource(source('203.0.113.66', { 'cf-connecting-ip': '192.0.2.1' }), {
      trust: 'cloudflare',
    })
    assert.equal(decidedBy, 'peer')
    assert.equal(text, 'Counted as 203.0.113.66.\n203.0.113.66 is not trusted as a proxy, or no further hop is.')
  })

  test('says that a header proves nothing', () => {
    const { decidedBy, text } = explainSource(source('10.0.0.1', { 'x-forwarded-for': 'unknown' }), { trust: 'nginx' })
    assert.equal(decidedBy, 'peer')
    assert.match(text, /but its header x-forwarded-for proves no address/)
  })

  test('without trusted proxies, says what the framework did', () => {
    const { decidedBy, text } = explainSource({ ...source('10.0.0.1'), ip: '198.51.100.7' }, {}, 'trustProxy')
    assert.equal(decidedBy, 'framework')
    assert.equal(text, 'Counted as 198.51.100.7.\nThe framework names this address, by trustProxy.')
    const behind = explainSource(source('10.0.0.1', { 'x-forwarded-for': '198.51.100.7' }))
    assert.match(behind.text, /X-Forwarded-For is not read, since no proxy is trusted to write it/)
    assert.match(explainSource({ ...source('10.0.0.1'), ip: 'bad' }).text, /"bad", which is not an address/)
    assert.equal(explainSource(source(undefined)).key, 'no-address')
  })

  test('rejects invalid options', () => {
    for (const trust of [
      'akamai',
      [],
      {},
      { preset: 'x', ranges: ['10.0.0.0/8'] },
      { ranges: [], header: 'x' },
      3,
      null,
    ]) {
      assert.throws(() => explainSource(source('10.0.0.1'), { trust } as never), { code: 'SLUICE_BAD_OPTION' })
    }
    for (const range of ['10.0.0.1/8', '10.0.0.0/33', '::1/129', 'localhost', '', '010.0.0.0/8', 7]) {
      const trust = { ranges: [range], header: 'x-forwarded-for' } as never
      assert.throws(() => explainSource(source('10.0.0.1'), { trust }), { code: 'SLUICE_BAD_OPTION' })
    }
    for (const given of [
      { header: 'Set-Cookie' },
      { header: 'a b' },
      { header: 'x', hops: 0 },
      { header: 'x', hops: 17 },
    ]) {
      const trust = { ranges: ['10.0.0.0/8'], ...given }
      assert.throws(() => explainSource(source('10.0.0.1'), { trust }), { code: 'SLUICE_BAD_OPTION' })
    }
  })
})
