import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type ProofOfWork, type ProofOfWorkOptions, proofOfWork, protectLogin } from '@sluice/http/login'
import { type Decision, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, hostileKeys } from '@sluice/testkit'
import { solve } from './login-simulation.ts'

const secret = 'a secret of the tests'
const client = '192.0.2.1'
let clock: FakeClock
let work: ProofOfWork

beforeEach(() => {
  clock = new FakeClock()
  work = workOf()
})
afterEach(() => work.close())

function workOf(options: Partial<ProofOfWorkOptions> = {}): ProofOfWork {
  return proofOfWork({ secret, bits: 4, maxBits: 8, clock, backend: memoryBackend({ clock }), ...options })
}

test('an answer is accepted once, for its key', async () => {
  const answer = solve(work.challenge(client))
  expect(await work.verify(answer, '192.0.2.2')).toBe(false)
  expect(await work.verify(answer, undefined)).toBe(false)
  const verified = await Promise.all(Array.from({ length: 20 }, () => work.verify(answer, client)))
  expect(verified.filter((isRight) => isRight)).toHaveLength(1)
  expect(await work.verify(answer, client)).toBe(false)
})

test('an answer for one name or secret is wrong for another', async () => {
  const answer = solve(work.challenge(client))
  for (const other of [workOf({ name: 'search' }), workOf({ secret: 'another secret of the tests' })]) {
    expect(await other.verify(answer, client)).toBe(false)
    other.close()
  }
  const replaced = workOf({ secret: ['another secret of the tests', secret] })
  expect(await replaced.verify(answer, client)).toBe(true)
  replaced.close()
})

test('pressure makes tasks harder, up to maxBits', () => {
  const pressures = [undefined, Number.NaN, -1, 0, 0.2, 0.4, 0.6, 0.8, 1, 7, Number.POSITIVE_INFINITY]
  const bits = pressures.map((pressure) => work.challenge(client, pressure).bits)
  expect(bits).toEqual([4, 4, 4, 4, 5, 6, 7, 8, 8, 8, 8])
})

test('the answer to an easy task is not accepted as that to a hard one', async () => {
  const { text } = work.challenge(client, 1)
  const [id, issued, , signature] = text.split('.')
  for (let nonce = 0; nonce < 50; nonce++) {
    expect(await work.verify(`${id}.${issued}.1.${signature}.${nonce}`, client)).toBe(false)
  }
})

test('an answer expires, and is not valid again when the clock is set back', async () => {
  work = workOf({ ttl: '1m' })
  const [used, late] = [solve(work.challenge(client)), solve(work.challenge(client))]
  expect(await work.verify(used, client)).toBe(true)
  clock.advance(60_001)
  expect(await work.verify(late, client)).toBe(false)
  clock.advance(60_000)
  clock.stepWall(-180_000)
  expect(await work.verify(used, client)).toBe(false)
})

test('anything but an answer is false, and keys may be any text', async () => {
  for (const wrong of [...hostileKeys, undefined, null, 1, {}, [solve(work.challenge(client))], '', 'a.b.c']) {
    expect(await work.verify(wrong, client)).toBe(false)
  }
  for (const key of hostileKeys) {
    const answer = solve(work.challenge(key))
    expect([await work.verify(answer, `${key} `), await work.verify(answer, key)]).toEqual([false, true])
  }
})

test('observers receive used answers by the name of the tasks', async () => {
  const seen: [string | undefined, boolean][] = []
  const decided = (_key: string, { binding, allowed }: Decision): void =>
    void seen.push([binding?.policy.name, allowed])
  work = workOf({ name: 'search', observers: [{ decided }] })
  const answer = solve(work.challenge(client))
  for (let time = 0; time < 2; time++) await work.verify(answer, client)
  expect(seen).toEqual([
    ['search-proof', true],
    ['search-proof', false],
  ])
})

test('a login whose name tasks of another length have claimed releases its own names', () => {
  const backend = memoryBackend({ clock })
  const claimed = workOf({ name: 'login', backend, ttl: '1m' })
  const logins = (): unknown => protectLogin({ secret, backend, clock })
  expect(logins).toThrow(expect.objectContaining({ code: 'SLUICE_DUPLICATE_POLICY' }))
  claimed.close()
  expect(logins).not.toThrow()
})
