import { expect, test } from '@jest/globals'
import { KnownClients } from '../../packages/http/src/overload/priority/known-clients.ts'

const MINUTE = 60_000

test('16 clients that are new under overload become known, and one more every ten seconds', () => {
  const known = new KnownClients(0)
  const countOf = (): number => Array.from({ length: 1_000 }, (_, name) => known.has(`${name}`)).filter(Boolean).length
  for (let name = 0; name < 500; name++) known.addIfFew(`${name}`, 1_000)
  expect(countOf()).toBe(16)
  for (let second = 1; second <= 30; second++) known.addIfFew(`${500 + second}`, 1_000 * second)
  expect(countOf()).toBe(16 + 2)
})

test('a client that asks now and then stays known, and one that does not is forgotten', () => {
  const known = new KnownClients(0)
  known.add('regular', 0)
  known.add('once', 0)
  for (let minute = 1; minute <= 60; minute++) {
    expect(known.has('regular')).toBe(true)
    known.add(`other ${minute}`, minute * MINUTE)
  }
  expect(known.has('once')).toBe(false)
})

test('a flood of names takes bounded memory, and displaces no client that goes on asking', () => {
  const known = new KnownClients(0)
  known.add('regular', 0)
  known.add('once', 0)
  for (let name = 0; name < 100_000; name++) {
    known.add(`name ${name}`, name)
    if (name % 1_000 === 0) expect(known.has('regular')).toBe(true)
  }
  expect(known.has('once')).toBe(false)
  expect(known.size).toBeLessThanOrEqual(2 * 8_192)
})

test('names that are asked for again take no more memory', () => {
  const known = new KnownClients(0)
  const earlier: string[] = []
  for (let round = 0; round < 6; round++) {
    const names = Array.from({ length: 8_191 }, (_, index) => `${round} ${index}`)
    for (const name of names) known.add(name, round)
    for (const name of earlier) known.has(name)
    earlier.push(...names)
  }
  expect(known.size).toBeLessThanOrEqual(2 * 8_192)
})

test('a clock that was set back keeps clients known, and lets new ones become known again', () => {
  const known = new KnownClients(10 * MINUTE)
  known.add('regular', 10 * MINUTE)
  known.add('other', 0)
  expect(known.has('regular')).toBe(true)
  for (let name = 0; name < 100; name++) known.addIfFew(`${name}`, 9 * MINUTE)
  known.addIfFew('late', 0)
  expect(known.has('late')).toBe(true)
})
