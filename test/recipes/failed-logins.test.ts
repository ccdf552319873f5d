import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { Warnings } from '@sluice/testkit'
import { RawClient } from '../leaks/raw-client.ts'
import { type RunningRecipe, run } from './recipe.ts'

const warnings = new Warnings()
let recipe: RunningRecipe

beforeEach(async () => {
  // a fresh module for each test, so that counts start at zero
  jest.resetModules()
  warnings.listen()
  recipe = await run('limit-logins.md', 'Failed logins')
})
afterEach(async () => {
  warnings.stop()
  await recipe.close()
})

async function logIn(body: unknown) {
  const response = await fetch(`${recipe.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const violated = response.status === 429 ? (JSON.parse(text)['violated-policies'] as string[]) : []
  return { status: response.status, violated, headers: response.headers, text }
}

const ada = 'ada@example.org'
const guess = (email: unknown, password = 'guess') => logIn({ email, password })

async function statuses(times: number, attempt: () => Promise<{ status: number }>): Promise<number[]> {
  const seen: number[] = []
  for (let asked = 0; asked < times; asked++) seen.push((await attempt()).status)
  return seen
}

test('right passwords cost nothing, however many', async () => {
  expect(await statuses(30, () => guess(ada, 'sesame'))).toEqual(Array(30).fill(200))
  expect(await statuses(5, () => guess(ada))).toEqual(Array(5).fill(401))
})

test('five failures from one address lock the account for that address, also with the right password', async () => {
  expect(await statuses(6, () => guess(ada))).toEqual([401, 401, 401, 401, 401, 429])
  const { status, violated } = await guess(ada, 'sesame')
  expect([status, violated]).toEqual([429, ['login-pair']])
  expect((await guess('bob@example.org')).status).toBe(401)
})

test('accounts that do not exist are answered and counted like existing ones', async () => {
  const seen = async (email: string) => {
    const answers: unknown[] = []
    for (let times = 0; times < 6; times++) {
      const { status, violated, headers, text } = await guess(email)
      answers.push([status, violated, headers.get('ratelimit-policy'), text])
    }
    return answers
  }
  expect(await seen('nobody@example.org')).toEqual(await seen(ada))
})

test('different spellings of an account name count as one account', async () => {
  const spellings = [ada, 'ADA@example.org', ' ada@Example.org ', 'ａda@example.org', `${ada}\t`, ada]
  const seen: number[] = []
  for (const email of spellings) seen.push((await guess(email)).status)
  expect(seen).toEqual([401, 401, 401, 401, 401, 429])
})

test('an address may not try many accounts', async () => {
  let account = 0
  expect(await statuses(21, () => guess(`user${account++}@example.org`))).toEqual([...Array(20).fill(401), 429])
  expect((await guess(ada, 'sesame')).violated).toEqual(['login-address'])
})

test('concurrent attempts get no more tries than sequential ones', async () => {
  const attempts = await Promise.all(Array.from({ length: 30 }, () => guess(ada)))
  expect(attempts.filter(({ status }) => status === 401)).toHaveLength(5)
})

test('a client that disconnects before the response is charged', async () => {
  const body = JSON.stringify({ email: ada, password: 'guess' })
  for (let times = 0; times < 5; times++) {
    const client = await RawClient.to(recipe.port)
    client.send(
      `POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    client.socket.end()
    await client.closed()
  }
  expect((await guess(ada, 'sesame')).violated).toEqual(['login-pair'])
})

test('bodies without an account are counted by address, without a warning', async () => {
  const bodies: unknown[] = [{}, { email: 5 }, { email: ['a'] }, [], { email: null }]
  const seen: number[] = []
  for (const body of bodies) seen.push((await logIn(body)).status)
  expect(seen).toEqual(Array(5).fill(401))
  expect((await logIn({})).status).toBe(429)
  expect(warnings.codes).toEqual([])
})
