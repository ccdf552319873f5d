import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LoginOptions, type LoginProtection, type LoginRequest, protectLogin } from '@sluice/http/login'
import { memoryBackend } from '@sluice/limiter-core'
import { FakeClock, hostileKeys } from '@sluice/testkit'
import { solve } from './login-simulation.ts'

const ada = { account: 'ada', address: '192.0.2.1' }
let clock: FakeClock
let logins: LoginProtection

beforeEach(() => {
  clock = new FakeClock()
  logins = protect()
})
afterEach(() => logins.close())

function protect(options: Partial<LoginOptions> = {}): LoginProtection {
  const backend = memoryBackend({ clock })
  return protectLogin({
    secret: 'a secret of the tests',
    challenge: { bits: 1, maxBits: 5 },
    clock,
    backend,
    ...options,
  })
}

async function logIn(request: LoginRequest, changed?: { readonly version: string }): Promise<string | undefined> {
  const attempt = await logins.attempt(request)
  if (attempt.outcome !== 'allow') throw new Error(`expected an allowed attempt, received ${JSON.stringify(attempt)}`)
  return attempt.succeeded(changed)
}

async function outcomeOf(request: LoginRequest): Promise<string> {
  return (await logins.attempt(request)).outcome
}

/** Guesses at many accounts from an address each, so that unknown devices are challenged. */
async function spray(count = 200): Promise<number> {
  let allowed = 0
  for (let index = 0; index < count; index++) {
    if ((await outcomeOf({ account: `${index}`, address: `10.0.0.${index}` })) === 'allow') allowed++
  }
  return allowed
}

describe('a device cookie', () => {
  test('is unknown once the version of the account has changed', async () => {
    const device = await logIn({ ...ada, version: 'hash 1' })
    expect(await logins.attempt({ ...ada, device, version: 'hash 1' })).toMatchObject({ known: true })
    expect(await logins.attempt({ ...ada, device, version: 'hash 2' })).toMatchObject({ known: false })
    expect(await logins.attempt({ ...ada, device })).toMatchObject({ known: false })
  })

  test('is for the version that the login has set', async () => {
    const device = await logIn({ ...ada, version: 'hash 1' }, { version: 'hash 2' })
    expect(await logins.attempt({ ...ada, device, version: 'hash 2' })).toMatchObject({ known: true })
    expect(await logins.attempt({ ...ada, device, version: 'hash 1' })).toMatchObject({ known: false })
  })

  test('of an account and a version is not one of another account whose name contains the version', async () => {
    for (const [one, other] of [
      [{ account: 'ada', version: 'b' }, { account: 'adab' }],
      [{ account: 'ada', version: '' }, { account: 'ada' }],
      [
        { account: 'ada1:b', version: 'c' },
        { account: 'ada', version: '1:bc' },
      ],
    ]) {
      const device = await logIn({ ...ada, ...one })
      expect(await logins.attempt({ ...ada, ...one, device })).toMatchObject({ known: true })
      expect(await logins.attempt({ ...ada, ...other, device })).toMatchObject({ known: false })
    }
  })

  test('may have any text as its version, and does not contain it', async () => {
    for (const version of hostileKeys) {
      const one = { account: `account ${version}`, address: '192.0.2.1', version }
      const device = await logIn(one)
      expect(device).toMatch(/^[\w.-]{70,80}$/)
      expect(await logins.attempt({ ...one, device })).toMatchObject({ known: true })
      const later = await logins.attempt({ ...one, address: `192.0.2.${version}`, device, version: `${version} ` })
      expect(later).not.toMatchObject({ known: true })
    }
  })
})

describe('an account at an address from which it has logged in before', () => {
  test('is not challenged because of attacks on others', async () => {
    await logIn(ada)
    await spray()
    expect(await outcomeOf(ada)).toBe('allow')
    expect(await outcomeOf({ ...ada, address: '192.0.2.2' })).toBe('challenge')
    expect(await outcomeOf({ ...ada, account: 'bob' })).toBe('challenge')
  })

  test('also after a login by a known device', async () => {
    const device = await logIn(ada)
    await logIn({ ...ada, address: '192.0.2.2', device })
    await spray()
    expect(await outcomeOf({ ...ada, address: '192.0.2.2' })).toBe('allow')
  })

  test('has the limits of its account and its address, also for parallel attempts', async () => {
    await logIn(ada)
    await spray()
    const attempts = await Promise.all(Array.from({ length: 50 }, () => logins.attempt(ada)))
    expect(attempts.filter(({ outcome }) => outcome === 'allow')).toHaveLength(5)
    expect(await logins.attempt(ada)).toMatchObject({ outcome: 'challenge', reason: 'account' })
  })

  test('costs nothing when it logs in, however often', async () => {
    for (let time = 0; time < 100; time++) await logIn(ada)
    await spray()
    for (let time = 0; time < 100; time++) await logIn(ada)
    expect(await outcomeOf(ada)).toBe('allow')
  })

  test('is forgotten after 90 days', async () => {
    await logIn(ada)
    clock.advance(90 * 86_400_000)
    await spray()
    expect(await outcomeOf(ada)).toBe('challenge')
  })

  test('cannot make guesses of the address at other accounts easier, whatever it does', async () => {
    const own = { account: 'attacker', address: '192.0.2.66' }
    await logIn(own)
    await spray()
    for (let index = 0; index < 100; index++) {
      await logIn(own)
      expect(await outcomeOf({ ...own, account: `person ${index}` })).toBe('challenge')
    }
  })

  test('is forgotten by a full memory before the failures of others', async () => {
    logins.close()
    const backend = memoryBackend({ clock, maxBytes: 2 ** 18 })
    logins = protect({ backend })
    const bob = { account: 'bob', address: '192.0.2.2' }
    for (let time = 0; time < 5; time++) await outcomeOf(bob)
    for (let person = 0; person < 6_000; person++)
      await logIn({ account: `${person}`, address: `10.${person >> 8}.0.${person & 255}` })
    expect((backend as unknown as { readonly bytes: number }).bytes).toBeGreaterThan(2 ** 17)
    expect(await logins.attempt(bob)).toMatchObject({ outcome: 'challenge', reason: 'account' })
  })
})

describe('a check behind the proof of work', () => {
  const asked: unknown[] = []
  /** Attempts with an answer each, wherever they are. */
  const solving = async (count: number, token?: string): Promise<string[]> => {
    const outcomes: string[] = []
    for (let index = 0; index < count; index++) {
      const request = { account: `person ${outcomes.length}`, address: `10.2.0.${index % 250}` }
      const task = await logins.taskFor(request.address)
      const attempt = await logins.attempt({ ...request, proof: task && solve(task), token })
      const how = attempt.outcome === 'challenge' && !attempt.challenge ? 'check' : attempt.outcome
      outcomes.push(how)
    }
    return outcomes
  }

  beforeEach(async () => {
    asked.length = 0
    logins.close()
    const check = ({ token }: LoginRequest): boolean => {
      asked.push(token)
      return token === 'a captcha'
    }
    logins = protect({ challenge: { bits: 1, maxBits: 1, check }, slowPressure: { limit: 20, window: '1d' } })
    await spray()
  })

  test('is asked for while too many attempts fail that have solved a task', async () => {
    const outcomes = await solving(30)
    expect(outcomes).toEqual([...Array(20).fill('allow'), ...Array(10).fill('check')])
    expect(await solving(3, 'a captcha')).toEqual(Array(3).fill('allow'))
    expect(asked).toEqual([...Array(10).fill(undefined), ...Array(3).fill('a captcha')])
  })

  test('is not asked for while attempts that have solved a task succeed', async () => {
    for (let index = 0; index < 60; index++) {
      const request = { account: `person ${index}`, address: `10.2.0.${index}` }
      const task = await logins.taskFor(request.address)
      await logIn({ ...request, proof: task && solve(task) })
    }
    expect(asked).toEqual([])
  })

  test('does not stop known devices and familiar addresses, nor replace a task', async () => {
    const task = await logins.taskFor(ada.address)
    const device = await logIn({ ...ada, proof: task && solve(task) })
    await solving(30)
    expect(await outcomeOf({ ...ada, address: '192.0.2.2', device })).toBe('allow')
    expect(await outcomeOf(ada)).toBe('allow')
    const attempt = await logins.attempt({ account: 'bob', address: '192.0.2.3', token: 'a captcha' })
    expect(attempt).toMatchObject({ outcome: 'challenge', challenge: { bits: 1 } })
    expect(await logins.attempt({ account: 'bob', address: '192.0.2.3', proof: 'none' })).toMatchObject({
      reason: 'slow-pressure',
    })
  })

  test('does not lift the limits of the account and the address', async () => {
    await solving(20)
    const outcomes = new Set<string>()
    for (let time = 0; time < 40; time++) {
      const task = await logins.taskFor(ada.address)
      outcomes.add(await outcomeOf({ ...ada, proof: task && solve(task), token: 'a captcha' }))
    }
    expect([...outcomes]).toEqual(['allow', 'deny'])
  })
})

describe('a task of the page', () => {
  const solved = async ({ address }: LoginRequest): Promise<string | undefined> => {
    const task = await logins.taskFor(address)
    return task && solve(task)
  }

  test('exists while attempts from the address are challenged', async () => {
    expect(await logins.taskFor(ada.address)).toBeUndefined()
    await spray()
    expect(await logins.taskFor(ada.address)).toMatchObject({ bits: expect.any(Number), expiresAfterMs: 600_000 })
    clock.advance(86_400_000 * 2)
    expect(await logins.taskFor(ada.address)).toBeUndefined()
  })

  test('exists for the address that tries many accounts, and for it alone', async () => {
    for (let index = 0; index < 31; index++) await outcomeOf({ account: `${index}`, address: '2001:db8::1' })
    expect(await logins.taskFor('2001:db8::2')).toBeDefined()
    expect(await logins.taskFor('2001:db9::1')).toBeUndefined()
  })

  test('lets one attempt of its address pass without a challenge, whatever the account', async () => {
    await spray()
    const proof = await solved(ada)
    expect(await outcomeOf({ ...ada, address: '192.0.2.2', proof })).toBe('challenge')
    expect(await outcomeOf({ ...ada, proof })).toBe('allow')
    expect(await outcomeOf({ ...ada, account: 'bob', proof })).toBe('challenge')
  })

  test('lets one of parallel attempts pass', async () => {
    await spray()
    const proof = await solved(ada)
    const attempts = await Promise.all(Array.from({ length: 20 }, () => logins.attempt({ ...ada, proof })))
    expect(attempts.filter(({ outcome }) => outcome === 'allow')).toHaveLength(1)
  })

  test('does not lower the pressure, whether the login succeeds or fails', async () => {
    // the pressure of one failure too many ends when one is taken back
    logins.close()
    logins = protect({ pressure: { limit: 10, window: '10m' }, usualFailures: 1 })
    expect(await spray(11)).toBe(10)
    for (let time = 0; time < 20; time++) {
      const own = { account: `own ${time}`, address: `192.0.2.${time}` }
      const proof = await solved(own)
      if (time % 2 === 0) await outcomeOf({ ...own, proof })
      else await logIn({ ...own, proof })
      expect(await outcomeOf({ account: `person ${time}`, address: '10.1.1.1' })).toBe('challenge')
    }
  })

  test('is as hard as that of a challenged attempt', async () => {
    for (const count of [51, 5, 200]) {
      await spray(count)
      const task = await logins.taskFor(ada.address)
      expect(await logins.attempt(ada)).toMatchObject({ challenge: { bits: task?.bits } })
    }
  })

  test('is not offered if the application checks clients itself', async () => {
    logins.close()
    logins = protect({ challenge: () => true })
    await spray()
    expect(await logins.taskFor(ada.address)).toBeUndefined()
  })

  test.each(['shadow', 'off'])('is not offered with SLUICE_MODE=%s', async (mode) => {
    logins.close()
    process.env.SLUICE_MODE = mode
    try {
      logins = protect()
    } finally {
      delete process.env.SLUICE_MODE
    }
    await spray()
    expect(await logins.taskFor(ada.address)).toBeUndefined()
  })
})
