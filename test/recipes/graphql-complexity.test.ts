import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { Warnings } from '@sluice/testkit'
import { type RunningRecipe, run } from './recipe.ts'

const warnings = new Warnings()
let recipe: RunningRecipe

beforeEach(async () => {
  // a fresh module for each test, so that counts start at zero
  jest.resetModules()
  warnings.listen()
  recipe = await run('graphql.md', 'GraphQL by complexity')
})
afterEach(async () => {
  warnings.stop()
  await recipe.close()
})

async function ask(body: unknown, user = 'ada') {
  const response = await fetch(`${recipe.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': user },
    body: JSON.stringify(body),
  })
  const left = /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]
  return { status: response.status, headers: response.headers, left: Number(left), body: await response.json() }
}

const query = 'query ($n: Int!) { authors(first: $n) { name books(first: 5) { title } } }'

test('a query costs the number of fields it may read, and is answered', async () => {
  const { status, left, body } = await ask({ query, variables: { n: 10 } })
  // ten authors, each with a name and five titled books
  expect([status, left]).toEqual([200, 1_000 - 10 * (1 + 1 + 5 * 2)])
  expect(body).toEqual({ data: { authors: [{ name: 'Ada', books: [{ title: 'Notes' }] }] } })
})

test('a client over its limit is denied with a time to retry, and other clients are not', async () => {
  for (let times = 0; times < 8; times++) expect((await ask({ query, variables: { n: 10 } })).status).toBe(200)
  const { status, headers } = await ask({ query, variables: { n: 10 } })
  expect([status, Number(headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
  expect(headers.get('retry-after')).toMatch(/^\d$/)
  expect((await ask({ query, variables: { n: 10 } }, 'bob')).status).toBe(200)
})

test('a query over the limit is denied without a time, since no wait would help', async () => {
  const { status, headers } = await ask({ query, variables: { n: 100 } })
  expect([status, headers.get('retry-after')]).toEqual([429, null])
  expect((await ask({ query, variables: { n: 1 } })).left).toBe(988)
})

describe('operations that look like one request', () => {
  const ten = { query: '{ authors(first: 10) { name } }' }

  test('a batch costs the sum of its operations, and each is answered', async () => {
    const { status, left, body } = await ask(Array.from({ length: 10 }, () => ten))
    expect([status, left]).toEqual([200, 1_000 - 10 * 20])
    expect(body).toHaveLength(10)
  })

  test('aliases of one field cost as much as several fields', async () => {
    const aliases = Array.from({ length: 9 }, (_, n) => `a${n}: authors(first: 10) { name }`)
    expect((await ask({ query: `{ ${aliases.join(' ')} }` })).left).toBe(1_000 - 9 * 10 * 2)
  })

  test('a batch over the limit is denied', async () => {
    expect((await ask(Array.from({ length: 51 }, () => ten))).status).toBe(429)
  })

  test('a persisted query costs as much as its text', async () => {
    const hashed = { extensions: { persistedQuery: { version: 1, sha256Hash: 'all-authors' } } }
    const { status, left, body } = await ask(hashed)
    expect([status, left, body]).toEqual([200, 900, { data: { authors: [{ name: 'Ada' }] } }])
    expect(await ask([hashed, ten], 'bob')).toMatchObject({ status: 200, left: 1_000 - 100 - 20 })
  })

  test('an unknown hash and an empty batch cost one unit', async () => {
    expect((await ask({ extensions: { persistedQuery: { sha256Hash: 'none' } } })).left).toBe(999)
    expect((await ask([], 'bob')).left).toBe(999)
  })
})

describe('a query crafted to look cheap', () => {
  const nested = (n: number): string => `{ authors(first: ${n}) { books(first: ${n}) { title } } }`
  const many = Array.from({ length: 400 }, (_, index) => `a${index}: authors(first: 1) { name }`).join(' ')
  const tricks = [
    ['with a negative number of rows', { query: nested(-1_000_000) }, [200, 1_000 - 3]],
    ['with more rows than a number can hold', { query: nested(2_147_483_647) }, [429, 0]],
    ['by aliases', { query: `{ ${many} }` }, [200, 200]],
    ['with a fragment that contains itself', { query: '{ ...f } fragment f on Query { ...f }' }, [200, 999]],
    ['with invalid syntax', { query: '{' }, [200, 999]],
    ['without a body', undefined, [200, 999]],
    ['with a body of another content type', { query: { authors: 1 } }, [200, 999]],
  ] as const

  test.each(tricks)('%s is charged in full, and no hook fails', async (_how, body, expected) => {
    const { status, left } = await ask(body)
    expect([status, left]).toEqual(expected)
    expect(warnings.codes).toEqual([])
  })
})
