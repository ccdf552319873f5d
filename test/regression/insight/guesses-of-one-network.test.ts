import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from '@jest/globals'
import { FakeClock } from '@sluice/testkit'
import { WrongTokens } from '../../../packages/insight/src/page/wrong-tokens.ts'

/** Returns the number of attempts that a client may make with these addresses, one for each. */
function attemptsFrom(addresses: readonly string[]): number {
  const wrong = new WrongTokens(new FakeClock())
  const res = { setHeader: () => res } as unknown as ServerResponse
  return addresses.filter((remoteAddress) => {
    const req = { socket: { remoteAddress } } as unknown as IncomingMessage
    return wrong.attempt(req, res).refusal === undefined
  }).length
}

test('addresses of one IPv6 network share their wrong tokens', () => {
  expect(attemptsFrom(Array.from({ length: 30 }, (_, at) => `2001:db8::${at.toString(16)}`))).toBe(10)
})

test('an IPv4 address is the same client over an IPv6 socket', () => {
  expect(attemptsFrom([...Array(10).fill('192.0.2.1'), ...Array(10).fill('::ffff:192.0.2.1')])).toBe(10)
})

test('other networks have their own wrong tokens', () => {
  expect(attemptsFrom(Array.from({ length: 30 }, (_, at) => `192.0.2.${at}`))).toBe(30)
})
