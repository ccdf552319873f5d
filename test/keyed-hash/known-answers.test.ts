import { expect, test } from '@jest/globals'
import { createKeyedHash } from '@sluice/limiter-core/keyed-hash'
import { textHash } from './hashes.ts'

/**
 * `high`, then `low`. Processes and releases exchange sketches: changing a value is a new format and needs a new name.
 */
const knownAnswers: readonly (readonly [key: string, hash: string])[] = [
  ['', '119744613fce9f2e'],
  ['a', '5cbfd3930328695e'],
  ['a\0', 'bac86bfaea6bd69a'],
  ['\0', '2dd6755d25afdde8'],
  ['ab', '3a186efa70d1bf43'],
  ['127.0.0.1', 'eeed8a27ceb688b2'],
  ['198.51.100.255', '3c3d1d6ce8fe9802'],
  ['2001:db8::/56', 'b2d9287278e98898'],
  ['user-000001', 'c66079de358d21ec'],
  ['__proto__', 'e0a260757d49d9fe'],
  ['é', 'e76702c9f27422f0'],
  ['e\u0301', 'f82ae386e957a36a'],
  ['扡', '99e3ef497f3c0999'],
  ['\ud800', 'a62a118afbb88f0e'],
  ['🚰', 'fa2285849afaa2dd'],
  ['x'.repeat(512), '6ca2b12ab300cd09'],
  ['x'.repeat(513), 'dcbb444d140d9127'],
  ['€'.repeat(256), '11b5c47dada7f04a'],
  ['€'.repeat(257), '9437428fd971b0d6'],
  ['x'.repeat(2 ** 20), '6cfdc69d7eef25e1'],
]

test('the hashes under the seed 00 01 … 0f equal those of the first release', () => {
  const hash = createKeyedHash(Uint8Array.from({ length: 16 }, (_, i) => i))
  expect(knownAnswers.map(([key]) => [key, textHash(hash, key)])).toEqual(knownAnswers)
})
