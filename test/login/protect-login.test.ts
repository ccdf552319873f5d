import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type LoginOptions, type LoginProtection, type LoginRequest, protectLogin } from '@sluice/http/login'
import { type Decision, memoryBackend } from '@sluice/limiter-core'
import { FakeClock, hostileKeys } from '@sluice/testkit'
import { solve } from './login-simulation.ts'

const secret = 'a secret of the tests'
const challenge = { bits: 1, maxBits: 5 }
let clock: FakeClock
let logins: LoginProtection

beforeEach(() => {
  clock = new FakeClock()
  logins = protect()
})
afterEach(() => logins.close())

function protect(options: Partial<LoginOptions> = {}): LoginProtection {
  return protectLogin({ secret, challenge, clock, backend: memoryBackend({ clock }), ...options })
}

const ada = { account: 'ada', address: '192.0.2.1' }

/** Returns the outcomes of failed attempts, one after another. */
async function failures(count: number, requestOf: (index: number) => LoginRequest): Promise<string[]> {
  const outcomes: string[] = []
  for (let index = 0; index < count; index++) outcomes.push((await logins.attempt(requestOf(index))).outcome)
  return outcomes
}

/** Logs in, with an answer if that is required. Returns the cookie. */
async function logIn(request: LoginRequest): Promise<string> {
  let attempt = await logins.attempt(request)
  if (attempt.outcome === 'challenge' && attempt.challenge) {
    attempt = await logins.attempt({ ...request, proof: solve(attempt.challenge) })
  }
  if (attempt.outcome !== 'allow') throw new Error(`expected an allowed attempt, received ${attempt.outcome}`)
  return `${await attempt.succeeded()}`
}

/** Returns the task of a challenged attempt. */
async function taskFor(request: LoginRequest): Promise<string> {
  const attempt = await logins.attempt(request)
  if (attempt.outcome !== 'challenge' || !attempt.challenge) throw new Error(`received ${attempt.outcome}`)
  return solve(attempt.challenge)
}

const fromEverywhere = (index: number): LoginRequest => ({
  account: 'ada',
  address: `192.0.${index >> 8}.${index & 255}`,
})

test('five failures for an account are allowed, then unknown devices are challenged, wherever they are', async () => {
  expect(await failures(7, fromEverywhere)).toEqual([...Array(5).fill('allow'), 'challenge', 'challenge'])
  const attempt = await logins.attempt({ account: 'ada', address: '2001:db8::1' })
  expect(attempt).toMatchObject({ outcome: 'challenge', reason: 'account', retryAfterMs: 3_600_000 })
})

test('successes cost nothing, however many', async () => {
  for (let time = 0; time < 300; time++) await logIn(ada)
  expect(await failures(5, () => ada)).toEqual(Array(5).fill('allow'))
})

test('an attempt counts when it begins, so that parallel attempts get no further', async () => {
  const attempts = await Promise.all(Array.from({ length: 100 }, (_, index) => logins.attempt(fromEverywhere(index))))
  expect(attempts.filter(({ outcome }) => outcome === 'allow')).toHaveLength(5)
})

test('a success is counted once, however often it is reported', async () => {
  await failures(4, () => ada)
  const attempt = await logins.attempt(ada)
  if (attempt.outcome !== 'allow') throw new Error(attempt.outcome)
  expect(await attempt.succeeded()).toBe(await attempt.succeeded())
  expect(await failures(2, () => ada)).toEqual(['allow', 'challenge'])
})

describe('a device that has logged in before', () => {
  test('is neither challenged nor denied because of what others do to the account', async () => {
    const device = await logIn(ada)
    for (let index = 0; index < 100; index++) await logins.attempt({ ...fromEverywhere(index), proof: 'none' })
    expect(await failures(10, () => ({ ...ada, device }))).toEqual(Array(10).fill('allow'))
  })

  test('has a limit of its own', async () => {
    const device = await logIn(ada)
    expect(await failures(11, () => ({ ...ada, device }))).toEqual([...Array(10).fill('allow'), 'deny'])
    expect(await logins.attempt({ ...ada, device })).toMatchObject({ reason: 'device', retryAfterMs: 3_600_000 })
    expect(await failures(1, () => ada)).toEqual(['allow'])
  })

  test('is unknown after 90 days, and known again after a login', async () => {
    const device = await logIn(ada)
    clock.advance(90 * 86_400_000 - 1)
    expect(await logins.attempt({ ...ada, device })).toMatchObject({ known: true })
    clock.advance(1_000)
    expect(await logins.attempt({ ...ada, device })).toMatchObject({ known: false })
    expect(await logins.attempt({ ...ada, device: await logIn({ ...ada, device }) })).toMatchObject({ known: true })
  })

  test('stays known while a secret is replaced', async () => {
    const device = await logIn(ada)
    const replaced = protect({ secret: ['another secret of the tests', secret] })
    expect(await replaced.attempt({ ...ada, device })).toMatchObject({ known: true })
    expect(await protect({ secret: 'another secret of the tests' }).attempt({ ...ada, device })).toMatchObject({
      known: false,
    })
  })
})

describe('a cookie', () => {
  test('does not contain the account, and is a value that cookies can have', async () => {
    const cookie = await logIn({ account: 'ada@example.org', address: '192.0.2.1' })
    expect(cookie).toMatch(/^[\w.-]{70,80}$/)
    expect(Buffer.from(cookie, 'base64url').toString('latin1') + cookie).not.toMatch(/ada|example/)
  })

  test('is ignored if it is forged, shortened, changed, for another account, or of another form', async () => {
    const cookie = await logIn(ada)
    const other = await logIn({ ...ada, account: 'bob' })
    const reset = await protect({ name: 'reset' }).attempt(ada)
    const ofReset = reset.outcome === 'allow' ? await reset.succeeded() : undefined
    const changed = Array.from(
      cookie,
      (one, at) => cookie.slice(0, at) + (one === 'a' ? 'b' : 'a') + cookie.slice(at + 1),
    )
    const wrong = [
      ...changed,
      ...hostileKeys,
      cookie.slice(0, -1),
      `${cookie}a`,
      other,
      ofReset,
      '',
      1,
      null,
      {},
      [cookie],
    ]
    const roomy = protect({
      account: { challenge: { limit: 1_000, window: '1h' }, deny: { limit: 1_000, window: '1d' } },
    })
    for (const device of wrong) {
      const attempt = await roomy.attempt({ ...ada, address: `${wrong.indexOf(device)}`, device })
      expect('known' in attempt && attempt.known).toBe(false)
    }
    expect(await roomy.attempt({ ...ada, device: cookie })).toMatchObject({ known: true })
  })
})

describe('an answer to a challenge', () => {
  beforeEach(() => failures(5, () => ada))

  test('allows one attempt', async () => {
    const proof = await taskFor(ada)
    expect(await failures(3, () => ({ ...ada, proof }))).toEqual(['allow', 'challenge', 'challenge'])
  })

  test('allows one of parallel attempts', async () => {
    const proof = await taskFor(ada)
    const attempts = await Promise.all(Array.from({ length: 20 }, () => logins.attempt({ ...ada, proof })))
    expect(attempts.filter(({ outcome }) => outcome === 'allow')).toHaveLength(1)
  })

  test('is for its account and its address', async () => {
    await failures(5, () => ({ account: 'bob', address: '192.0.2.2' }))
    const proof = await taskFor(ada)
    expect(await failures(1, () => ({ ...ada, account: 'bob', proof }))).toEqual(['challenge'])
    expect(await failures(1, () => ({ ...ada, address: '192.0.2.2', proof }))).toEqual(['challenge'])
    expect(await failures(1, () => ({ ...ada, proof }))).toEqual(['allow'])
  })

  test('expires, and is not valid again when the clock is set back', async () => {
    const [late, used] = [await taskFor(ada), await taskFor(ada)]
    expect(await failures(1, () => ({ ...ada, proof: used }))).toEqual(['allow'])
    clock.advance(600_001)
    expect(await failures(1, () => ({ ...ada, proof: late }))).toEqual(['challenge'])
    clock.advance(600_000)
    clock.stepWall(-1_500_000)
    expect(await failures(1, () => ({ ...ada, proof: used }))).toEqual(['challenge'])
  })

  test('is ignored if it is wrong, shortened, changed or easier', async () => {
    const proof = await taskFor(ada)
    const [id, issued, bits, signature, nonce] = proof.split('.')
    const parts = [
      [id, issued, bits, signature],
      [id, issued, bits, signature, ''],
      [id, issued, '0', signature, nonce],
      [id, `${issued}0`, bits, signature, nonce],
      [id.toLowerCase(), issued, bits, signature.slice(1), nonce],
    ]
    const wrong = [...parts.map((part) => part.join('.')), ...hostileKeys, 1, null, {}, [proof]]
    for (const one of wrong) expect(await failures(1, () => ({ ...ada, proof: one }))).toEqual(['challenge'])
    expect(await failures(1, () => ({ ...ada, proof }))).toEqual(['allow'])
  })

  test('does not lift the limit per day', async () => {
    for (let solved = 5; solved < 30; solved++) {
      const proof = await taskFor(ada)
      expect(await failures(1, () => ({ ...ada, proof }))).toEqual(['allow'])
    }
    expect(await logins.attempt(ada)).toMatchObject({ outcome: 'deny', reason: 'account' })
  })

  test('that is not sent counts nothing for the account and the address', async () => {
    await failures(300, () => ada)
    const proof = await taskFor(ada)
    expect(await failures(1, () => ({ ...ada, proof }))).toEqual(['allow'])
  })
})

test('tasks become harder under pressure', async () => {
  const bits: number[] = []
  for (let index = 0; index < 2_000; index++) {
    const attempt = await logins.attempt({ account: `${index}`, address: `192.0.${index >> 8}.${index & 255}` })
    if (attempt.outcome === 'challenge') bits.push(attempt.challenge?.bits ?? 0)
  }
  expect([bits[0], bits.at(-1)]).toEqual([expect.any(Number), 5])
  expect([...bits].sort()).toEqual(bits)
  expect(bits).toHaveLength(1_950)
})

test('successes with one account cannot lower the pressure of guesses', async () => {
  const own = { account: 'attacker', address: '192.0.2.66' }
  let allowed = 0
  for (let index = 0; index < 300; index++) {
    for (let time = 0; time < 3; time++) await logIn(own)
    if ((await logins.attempt({ account: `${index}`, address: `10.0.0.${index}` })).outcome === 'allow') allowed++
  }
  expect(allowed).toBe(50)
})

test('one address that tries many accounts is challenged after 30, also by addresses of one /56', async () => {
  const spray = (index: number): LoginRequest => ({
    account: `${index}`,
    address: `2001:db8:0:${(index % 200).toString(16)}::1`,
  })
  const outcomes = await failures(40, spray)
  expect(outcomes).toEqual([...Array(30).fill('allow'), ...Array(10).fill('challenge')])
  expect(await logins.attempt(spray(50))).toMatchObject({ reason: 'address' })
})

test('a listed network is one client', async () => {
  logins = protect({
    networks: ['198.51.100.0/24', '2001:db8::/32'],
    network: { challenge: { limit: 10, window: '1h' } },
  })
  const inside = (index: number): LoginRequest => ({ account: `${index}`, address: `::ffff:198.51.100.${index}` })
  expect(await failures(11, inside)).toEqual([...Array(10).fill('allow'), 'challenge'])
  expect(await logins.attempt(inside(50))).toMatchObject({ reason: 'network' })
  const alsoInside = (index: number): LoginRequest => ({ account: `${index}`, address: `2001:db8:${index}::1` })
  expect(await failures(11, alsoInside)).toEqual([...Array(10).fill('allow'), 'challenge'])
  expect(await failures(1, () => ada)).toEqual(['allow'])
})

describe('a check of the application', () => {
  test('decides challenged attempts, and only these', async () => {
    const asked: unknown[] = []
    logins = protect({
      challenge: async ({ proof }) => {
        asked.push(proof)
        if (proof === 'broken') throw new Error('the captcha does not answer')
        return proof === 'solved'
      },
    })
    await failures(5, () => ada)
    expect(asked).toEqual([])
    const outcomes = ['solved', 'wrong', 'broken', undefined].map((proof) => failures(1, () => ({ ...ada, proof })))
    expect((await Promise.all(outcomes)).flat()).toEqual(['allow', 'challenge', 'challenge', 'challenge'])
    expect(await logins.attempt(ada)).toMatchObject({ outcome: 'challenge', challenge: undefined })
  })
})

test('accounts and addresses may be any text, or missing', async () => {
  for (const key of hostileKeys) {
    expect(await failures(6, () => ({ account: key, address: key }))).toEqual([...Array(5).fill('allow'), 'challenge'])
    logins.close()
    logins = protect()
  }
  const unreadable = { account: ['ada'] as unknown as string, address: undefined }
  expect(await failures(31, () => unreadable)).toEqual([...Array(30).fill('allow'), 'challenge'])
  const attempt = await protect().attempt(unreadable)
  expect(attempt.outcome === 'allow' && (await attempt.succeeded())).toBeUndefined()
})

test('forms on one backend have counts of their own', async () => {
  const backend = memoryBackend({ clock })
  logins = protect({ backend })
  const reset = protect({ backend, name: 'reset' })
  await failures(5, () => ada)
  expect(await reset.attempt(ada)).toMatchObject({ outcome: 'allow' })
})

test.each(['shadow', 'off'])('SLUICE_MODE=%s allows every attempt, and devices become known', async (mode) => {
  process.env.SLUICE_MODE = mode
  try {
    logins = protect()
  } finally {
    delete process.env.SLUICE_MODE
  }
  const device = await logIn(ada)
  expect(await failures(300, fromEverywhere)).toEqual(Array(300).fill('allow'))
  expect(await failures(20, () => ({ ...ada, device }))).toEqual(Array(20).fill('allow'))
  expect(await logins.attempt({ ...ada, device })).toMatchObject({ known: true })
})

test('observers receive the decisions of attempts by the names of the policies', async () => {
  const seen = new Set<string>()
  const decided = (_key: string, { verdicts }: Decision): void => {
    for (const { policy } of verdicts) seen.add(policy.name)
  }
  logins = protect({ name: 'reset', observers: [{ decided }] })
  await logins.attempt(ada)
  expect([...seen]).toEqual([
    'reset-account',
    'reset-account-challenge',
    'reset-address',
    'reset-address-challenge',
    'reset-pressure',
    'reset-slow-pressure',
    'reset-familiar',
  ])
})

test('memory stays within the budget of the backend', async () => {
  logins = protect({ backend: memoryBackend({ clock, maxBytes: 2 ** 20 }) })
  for (let index = 0; index < 20_000; index++) await logins.attempt({ account: `${index}`, address: `10.${index}` })
  expect(await failures(1, () => ada)).toEqual(['challenge'])
})
