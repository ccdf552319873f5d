import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import * as ofNode from '@sluice/limiter-core/keyed-hash'
import { eachSeed } from '@sluice/testkit'
import { root } from '../repository.ts'

const ofTheWeb: typeof ofNode = createRequire(__filename)(
  join(root, 'packages/limiter-core/dist/cjs/keyed-hash/web.js'),
)

test('the build for runtimes without node:crypto hashes as the one for Node.js does', async () => {
  await eachSeed(20, async (random) => {
    const seed = Uint8Array.from({ length: 16 + random.whole(50) }, () => random.whole(256))
    const [one, other] = [ofNode.createKeyedHash(seed), ofTheWeb.createKeyedHash(seed)]
    const text = String.fromCodePoint(...Array.from({ length: random.whole(2_000) }, () => 1 + random.whole(0xd7ff)))
    for (const hash of [one, other]) hash.text(text)
    expect([other.low, other.high]).toEqual([one.low, one.high])
    const secret = text.slice(0, 100)
    expect([...ofTheWeb.hmacSha256(secret, text)]).toEqual([...ofNode.hmacSha256(secret, text)])
  })
})

test('the build for runtimes without node:crypto draws a seed of its own for each hash', () => {
  const [one, other] = [ofTheWeb.createKeyedHash(), ofTheWeb.createKeyedHash()]
  for (const hash of [one, other]) hash.text('anna')
  expect([one.low, one.high]).not.toEqual([other.low, other.high])
})

test('a hash is created without random numbers, and draws its seed at the first use', () => {
  const { getRandomValues } = globalThis.crypto
  let isAllowed = false
  const guarded = (array: Uint8Array): Uint8Array => {
    if (!isAllowed) throw new Error('Disallowed operation called within global scope')
    return getRandomValues.call(globalThis.crypto, array) as Uint8Array
  }
  globalThis.crypto.getRandomValues = guarded as typeof getRandomValues
  try {
    const hash = ofTheWeb.createKeyedHash()
    expect(() => hash.text('anna')).toThrow('global scope')
    isAllowed = true
    hash.text('anna')
    const first = [hash.low, hash.high]
    hash.text('bert')
    expect([hash.low, hash.high]).not.toEqual(first)
    hash.text('anna')
    expect([hash.low, hash.high]).toEqual(first)
  } finally {
    globalThis.crypto.getRandomValues = getRandomValues
  }
})
