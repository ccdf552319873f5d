import { expect, test } from '@jest/globals'
import { type AttributeValue, PolicyFileError, PolicyMatcher, parsePolicies } from '@sluice/policies'

type Attributes = Readonly<Record<string, AttributeValue>>

const SEED = `
version: 1
policies:
  - name: slides-enterprise
    match: { product: slides, customer_type: enterprise, resource_type: api_call }
    key: customer
    limit: 1000
    per: 1m
  - name: slides
    match: { product: slides, resource_type: api_call }
    key: customer
    limit: 100
    per: 1m
  - name: all
    key: customer
    limit: 10
    per: 1m
  - name: db-time
    match: { product: slides }
    key: customer
    unit: ms
    limit: 60000
    per: 1m
`

function matcherOf(text: string, failed?: (policy: string, error: unknown) => void): PolicyMatcher {
  return new PolicyMatcher(parsePolicies(text, 'policies.yaml'), failed)
}

function matched(matcher: PolicyMatcher, attributes: Attributes): string[] {
  return matcher.match((name) => attributes[name]).flatMap((one) => (one ? [one.policy.name] : []))
}

function problems(text: string, attributes?: readonly string[]): string[] {
  try {
    parsePolicies(text, 'p.yaml', { attributes })
  } catch (error) {
    if (error instanceof PolicyFileError) return error.details.split('\n')
    throw error
  }
  return []
}

test('the most specific policy applies in place of those that it refines, and other units apply beside it', () => {
  const matcher = matcherOf(SEED)
  const base = { customer: 'acme', product: 'slides', resource_type: 'api_call' }
  expect(matched(matcher, { ...base, customer_type: 'enterprise' })).toEqual(['slides-enterprise', 'db-time'])
  expect(matched(matcher, { ...base, customer_type: 'free' })).toEqual(['slides', 'db-time'])
  expect(matched(matcher, { customer: 'acme', product: 'docs' })).toEqual(['all'])
})

test('a policy in shadow mode replaces no policy that denies, and a policy that is off replaces none', () => {
  const base = { customer: 'acme', product: 'slides', resource_type: 'api_call', customer_type: 'enterprise' }
  const shadow = SEED.replace('limit: 1000', 'mode: shadow\n    limit: 1000')
  expect(matched(matcherOf(shadow), base)).toEqual(['slides-enterprise', 'slides', 'db-time'])
  const off = SEED.replace('limit: 1000', "mode: 'off'\n    limit: 1000")
  expect(matched(matcherOf(off), base)).toEqual(['slides', 'db-time'])
})

const SEARCH = `
version: 1
policies:
  - name: search
    match: { route: "GET /search" }
    when: "request.headers['x-internal'] != 'true'"
    key: [principal, route]
    limit: { free: 10, pro: 100 }
    per: 1s
overrides:
  - { policy: search, key: acme, limit: 500 }
  - { policy: search, key: [acme, "GET /search"], limit: 600 }
`

test('a missing header is an empty text in conditions', () => {
  const matcher = matcherOf(SEARCH)
  const request = { route: 'GET /search', principal: 'acme' }
  expect(matched(matcher, request)).toEqual(['search'])
  expect(matched(matcher, { ...request, 'header:x-internal': 'true' })).toEqual([])
  expect(matcher.attributes).toEqual(expect.arrayContaining(['header:x-internal', 'plan', 'principal', 'route']))
})

test('limits by plan apply by the plan of the request, and the smallest one to other plans', () => {
  const matcher = matcherOf(SEARCH)
  const limitOf = (plan?: string): number | undefined => {
    const attributes: Record<string, string | undefined> = { route: 'GET /search', principal: 'a', plan }
    return matcher.match((name) => attributes[name])[0]?.limit
  }
  expect([limitOf('free'), limitOf('pro'), limitOf('constructor'), limitOf()]).toEqual([10, 100, 10, 10])
})

test('an override applies to all keys that begin with its values, and the longest one first', () => {
  const { overrides, key } = matcherOf(SEARCH).policies[0]
  const keyFor = (principal: string, route: string): string =>
    key.partsOf((name) => ({ principal, route })[name]).reduce((all, part) => `${all}${part.length}:${part}`, '')
  expect(overrides?.limitOf(keyFor('acme', 'GET /search'))).toBe(600)
  expect(overrides?.limitOf(keyFor('acme', 'GET /other'))).toBe(500)
  expect(overrides?.limitOf(keyFor('4:acme', 'GET /search'))).toBeUndefined()
  expect(overrides?.largestLimit).toBe(600)
})

test('the address takes the place of a missing attribute, and cannot be forged by an attribute', () => {
  const matcher = matcherOf('version: 1\npolicies: [{ name: a, key: principal, limit: 1, per: 1s }]')
  const keyOf = (attributes: Attributes): string | undefined => matcher.match((name) => attributes[name])[0]?.key
  const visitor = keyOf({ address: '10.0.0.1' })
  expect(visitor).toContain('10.0.0.1')
  expect(keyOf({ address: '10.0.0.1', principal: '' })).toBe(visitor)
  expect(keyOf({ address: '10.0.0.2', principal: visitor as string })).not.toBe(visitor)
  expect(keyOf({ address: '10.0.0.1', principal: 'u' })).toBe('u')
})

test('a rollout includes the same keys in every process, and a larger share includes those of a smaller one', () => {
  const included = (share: string): Set<string> => {
    const text = `version: 1\npolicies: [{ name: a, key: principal, limit: 1, per: 1s, rollout: ${share} }]`
    const matcher = matcherOf(text)
    const keys = Array.from({ length: 20_000 }, (_, index) => `user-${index}`)
    return new Set(keys.filter((principal) => matcher.match((name) => ({ principal })[name])[0]))
  }
  let smaller = new Set<string>()
  for (const share of ['0%', '1%', '12.5%', '25%', '50%', '99%', '100%']) {
    const larger = included(share)
    expect(larger.size).toBeGreaterThan(20_000 * (Number.parseFloat(share) / 100) * 0.93 - 20)
    expect(larger.size).toBeLessThan(20_000 * (Number.parseFloat(share) / 100) * 1.07 + 20)
    expect([...smaller].every((key) => larger.has(key))).toBe(true)
    smaller = larger
  }
  expect(smaller.size).toBe(20_000)
})

test('the keys of a rollout stay the same in later versions', () => {
  const matcher = matcherOf('version: 1\npolicies: [{ name: a, key: principal, limit: 1, per: 1s, rollout: 50% }]')
  const keys = Array.from({ length: 12 }, (_, index) => `user-${index}`)
  const places = keys.map((principal) => (matcher.match((name) => ({ principal })[name])[0] ? 1 : 0)).join('')
  expect(places).toMatchInlineSnapshot(`"101111001100"`)
})

test('a condition that fails for a request is reported, and its policy does not apply', () => {
  const failures: string[] = []
  const text = `version: 1\npolicies: [{ name: a, when: "attributes.age > 5", limit: 1, per: 1s }]`
  const matcher = matcherOf(text, (policy) => failures.push(policy))
  expect(matched(matcher, { age: 6 })).toEqual(['a'])
  expect(matched(matcher, { age: 5 })).toEqual([])
  expect(failures).toEqual([])
  expect(matched(matcher, { age: 'old' })).toEqual([])
  expect(matched(matcher, {})).toEqual([])
  expect(failures).toEqual(['a', 'a'])
})

test('regular expressions in conditions take linear time', () => {
  const text = `version: 1\npolicies: [{ name: a, when: "attributes.text.matches('^(a+)+$')", limit: 1, per: 1s }]`
  const matcher = matcherOf(text)
  expect(matched(matcher, { text: 'aaaa' })).toEqual(['a'])
  const started = performance.now()
  expect(matched(matcher, { text: `${'a'.repeat(2_000)}!` })).toEqual([])
  expect(performance.now() - started).toBeLessThan(5_000)
})

test.each([
  'attributes.plan',
  '[1, 2].filter(a, a > 1).all(a, a == 2)',
  "request.method in ['GET', 'HEAD'] && !(attributes.plan == null)",
])('the condition %j is valid', (when) => {
  expect(problems(fileWith(when))).toEqual([])
})

function fileWith(when: string): string {
  return JSON.stringify({ version: 1, policies: [{ name: 'a', limit: 1, per: '1s', when }] })
}

test.each([
  ["request.metod == 'GET'", "request has no field 'metod', did you mean 'method'?"],
  ['request.headers == {}', 'expected the name of a header'],
  ["request.headers[request.method] == 'a'", 'expected'],
  ["'x-a' in request.headers", 'expected'],
  ["request.headers['X-A'] == 'a'", 'in lower case'],
  ['attributes == {}', 'expected a field of attributes'],
  ['attributes.a.matches(attributes.b)', 'expected a text as the pattern'],
  ["attributes.a.matches('(')", 'missing closing )'],
  ['[1].all(a, [1].all(b, a == b))', 'no loop inside of another loop'],
  ['1 + 1', 'expected a condition of type bool'],
  ['user.name', 'Unknown variable: user'],
  ['request.method == ', 'Unexpected'],
  [`${'!'.repeat(300)}true`, 'Exceeded'],
])('a file with the condition %j is refused', (when, message) => {
  expect(problems(fileWith(when)).join()).toContain(message)
})

test('attributes that the application does not provide are refused, with the nearest name', () => {
  expect(problems(SEARCH, ['principal', 'plan'])).toEqual([])
  expect(problems(SEARCH, ['principle', 'plan'])).toEqual([
    "p.yaml:7:11: policies[0].key[0]: no attribute is named 'principal', did you mean 'principle'?",
  ])
  expect(problems(SEARCH, ['principal']).join()).toContain("no attribute is named 'plan'")
})

test('policies that replace each other are refused', () => {
  const text = `
version: 1
policies:
  - { name: a, limit: 1, per: 1s, replaces: [b] }
  - { name: b, limit: 1, per: 1s, match: { method: GET } }
`
  expect(problems(text)).toHaveLength(2)
  expect(problems(text)[0]).toContain('policies[0]: this policy replaces itself')
})
