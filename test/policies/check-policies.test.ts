import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type CheckOptions, checkPolicies, type PolicyFinding, parsePolicies } from '@sluice/policies'
import { root } from '../repository.ts'

const EXAMPLE = `version: 1
policies:
  - name: slides-enterprise
    match: { product: slides, customer_type: enterprise, resource_type: api_call }
    limit: 1000
    per: 1m
  - name: db-time
    match: { product: slides }
    unit: ms
    limit: 60000
    per: 1m
    cost: { reserve: 20, settle: db_ms }
  - name: search
    match: { route: "GET /search" }
    when: "request.headers['x-internal'] != 'true'"
    key: [principal, route]
    limit: { free: 10, pro: 100 }
    per: 1s
    mode: shadow
    rollout: 25%
overrides:
  - { policy: search, key: acme, limit: 500 }
lists:
  allow: [10.0.0.0/8]
  block: { file: blocklist.txt }
`

function check(text: string, options: CheckOptions = {}): PolicyFinding[] {
  return checkPolicies(parsePolicies(text, 'policies.yaml'), { text, ...options })
}

/** A file with one policy on each line, from line 3. */
const file = (policies: readonly string[], rest = ''): string =>
  `version: 1\npolicies:\n${policies.map((policy) => `  - { ${policy} }\n`).join('')}${rest}`

/** The findings as `line:column rule path: message`. */
const found = (policies: readonly string[], rest = '', options: CheckOptions = {}): string[] =>
  check(file(policies, rest), options).map(({ line, column, rule, path, message }) => {
    return `${line}:${column} ${rule} ${path}: ${message}`
  })

/** The findings as `rule policy`. */
const rules = (policies: readonly string[], rest = '', options: CheckOptions = {}): string[] =>
  check(file(policies, rest), options).map(({ rule, policy }) => `${rule} ${policy}`)

describe('a file without mistakes', () => {
  test('the example of the README has no findings', () => {
    const page = readFileSync(join(root, 'packages/policies/README.md'), 'utf8')
    const text = /const text = `\n([\s\S]*?)`/.exec(page)?.[1] as string
    expect(check(text)).toEqual([])
  })

  test('the only finding of a large example is a hint about the form of a key', () => {
    expect(check(EXAMPLE)).toEqual([
      {
        ...{
          rule: 'unused-override',
          severity: 'hint',
          policy: 'search',
          path: 'overrides[0].key',
          line: 22,
          column: 28,
        },
        message:
          "a key of 'search' has the form [principal, route]: this limit applies to each route of principal 'acme' " +
          'separately; write a list of 2 values for one key',
      },
    ])
  })

  test('a burst and a sustained limit are both useful', () => {
    expect(found(['name: a, limit: 10, per: 1s', 'name: b, limit: 500, per: 1m'])).toEqual([])
  })

  test('a stricter limit in shadow mode or for some keys is a roll-out', () => {
    const today = 'name: today, limit: 100, per: 1m'
    expect(found([today, 'name: planned, limit: 20, per: 1m, mode: shadow'])).toEqual([])
    expect(found([today, 'name: canary, limit: 20, per: 1m, rollout: 10%'])).toEqual([])
  })
})

describe('a policy that never binds', () => {
  test('is reported with the policy that denies first', () => {
    expect(found(['name: minute, limit: 1000, per: 1m', 'name: hour, limit: 200000, per: 1h'])).toEqual([
      "4:26 never-binds policies[1].limit: 'hour' never denies a request: 'minute' applies to all its requests, and its " +
        'limit of 1,000 requests per 1m is always reached first',
    ])
  })

  test.each([
    ['is off', ['name: a, limit: 1, per: 1s, mode: off']],
    ['has a rollout of 0%', ['name: a, limit: 1, per: 1s, rollout: 0%']],
    [
      'has a larger limit for a finer key',
      ['name: b, key: principal, limit: 10, per: 1m', 'name: a, key: [principal, route], limit: 10, per: 1m'],
    ],
    [
      'has a larger limit for fewer requests',
      ['name: b, limit: 10, per: 1m', "name: a, when: 'attributes.x > 1', limit: 10, per: 1m, rollout: 50%"],
    ],
    [
      'has larger limits for all plans',
      [
        'name: b, limit: { free: 1, pro: 5 }, per: 1m',
        "name: a, when: 'attributes.x > 1', limit: { free: 1, pro: 6 }, per: 1m",
      ],
    ],
  ])('%s', (_what, policies) => {
    expect(rules(policies)).toEqual(['never-binds a'])
  })

  test.each([
    ['its unit differs', ['name: b, limit: 10, per: 1m', 'name: a, unit: ms, limit: 1000, per: 1m']],
    [
      'it applies to more requests',
      ['name: b, match: { product: [slides, docs] }, limit: 10, per: 1m', 'name: a, limit: 1000, per: 1m'],
    ],
    [
      'the condition of the stricter one differs',
      [
        "name: b, when: 'attributes.x > 1', limit: 10, per: 1m",
        "name: a, when: 'attributes.x > 2', limit: 1000, per: 1m",
      ],
    ],
    [
      'the stricter one is in shadow mode',
      ['name: b, limit: 10, per: 1m, mode: shadow', 'name: a, limit: 1000, per: 1m'],
    ],
    [
      'the stricter one applies to some keys',
      ['name: b, limit: 10, per: 1m, rollout: 99.9%', 'name: a, limit: 1000, per: 1m'],
    ],
    [
      'it replaces the stricter one',
      ['name: b, limit: 10, per: 1m', 'name: a, match: { product: slides }, limit: 1000, per: 1m'],
    ],
    [
      'its name replaces the stricter one',
      ['name: b, limit: 10, per: 1m', "name: a, when: 'attributes.x > 1', limit: 1000, per: 1m, replaces: [b]"],
    ],
    [
      'another policy replaces the stricter one',
      [
        'name: b, limit: 10, per: 1m',
        "name: a, when: 'attributes.x > 1', limit: 1000, per: 1m",
        'name: c, match: { product: slides }, limit: 50, per: 1m',
      ],
    ],
    ['the keys differ', ['name: b, key: principal, limit: 10, per: 1m', 'name: a, key: route, limit: 1000, per: 1m']],
    [
      'requests cost something else',
      ['name: b, limit: 10, per: 1m', "name: a, when: 'attributes.x > 1', limit: 1000, per: 1m, cost: 5"],
    ],
    [
      'one plan has a smaller limit',
      [
        'name: b, limit: { free: 1, pro: 5 }, per: 1m',
        "name: a, when: 'attributes.x > 1', limit: { free: 1, pro: 4 }, per: 1m",
      ],
    ],
    [
      'bursts at the edges of two windows exceed it',
      [
        'name: b, limit: 100, per: 1m, algorithm: fixed-window',
        'name: a, limit: 150, per: 1m, algorithm: sliding-window, slices: 10',
      ],
    ],
    [
      'settled units exceed it',
      [
        'name: b, limit: 100, per: 1m, cost: { reserve: 1, settle: x }',
        'name: a, limit: 7000, per: 1h, cost: { reserve: 1, settle: x }',
      ],
    ],
  ])('is not reported if %s', (_what, policies) => {
    expect(rules(policies)).toEqual([])
  })

  test('is a hint if only windows that begin at other times let it deny first', () => {
    const policies = ['name: b, limit: 100, per: 1m', "name: a, when: 'attributes.x > 1', limit: 100, per: 1m"]
    expect(check(file(policies))).toMatchObject([{ rule: 'never-binds', severity: 'hint', policy: 'a' }])
    expect(found(policies)[0]).toContain("'a' hardly denies a request: 'b' applies to all its requests")
  })

  test('is not reported if an override lets one key pass the stricter policy', () => {
    const policies = [
      'name: b, key: principal, limit: 10, per: 1m',
      "name: a, key: principal, when: 'attributes.x > 1', limit: 100, per: 1m",
    ]
    expect(rules(policies)).toEqual(['never-binds a'])
    expect(rules(policies, 'overrides:\n  - { policy: b, key: acme, limit: 500 }\n')).toEqual([])
    expect(rules(policies, 'overrides:\n  - { policy: a, key: acme, limit: 5 }\n')).toEqual([])
  })
})

test('of two policies with one match, key and window, the later one is reported', () => {
  const first = 'name: a, match: { product: slides, tier: [x, y] }, limit: 10, per: 1m'
  expect(found([first, 'name: b, match: { tier: [y, x], product: slides }, limit: 5, per: 1m'])).toEqual([
    "4:5 duplicate policies[1]: 'b' has the same match, key, unit and window as 'a': only the smaller limit has an effect",
  ])
  expect(rules([first, first.replace('name: a', 'name: c')])).toEqual(['duplicate c'])
})

describe('a policy that is always replaced', () => {
  test('is reported with the policies that replace it', () => {
    const policies = [
      'name: a, match: { product: [slides, docs] }, limit: 1, per: 1s',
      'name: b, match: { product: slides }, limit: 2, per: 1s',
      'name: c, match: { product: docs }, limit: 3, per: 1s, replaces: [a]',
    ]
    expect(found(policies)).toEqual([
      "3:5 always-replaced policies[0]: 'a' never applies: 'b' and 'c' replace it on all its requests",
    ])
    expect(found(policies.slice(0, 2))).toEqual([])
  })

  test('is reported if one policy names it and applies to all requests', () => {
    const replaced = "name: a, match: { product: slides }, key: principal, when: 'attributes.x > 1', limit: 1, per: 1s"
    expect(rules([replaced, 'name: b, limit: 9, per: 1s, replaces: [a]'])).toEqual(['always-replaced a'])
    const shadow = 'name: b, limit: 9, per: 1s, replaces: [a], mode: shadow'
    expect(rules([replaced, shadow])).toEqual([])
    expect(rules([`${replaced}, mode: shadow`, shadow])).toEqual(['always-replaced a'])
    const finer = 'name: a, key: [principal, route], limit: 1, per: 1s'
    expect(rules([finer, 'name: b, key: principal, limit: 1, per: 1s, replaces: [a]'])).toEqual(['always-replaced a'])
    expect(rules([replaced, "name: b, when: 'attributes.x > 2', limit: 9, per: 1s, replaces: [a]"])).toEqual([])
  })
})

describe('a field that a limiter refuses', () => {
  test.each([
    [
      'a burst of a window',
      'limit: 50, per: 1m, burst: 5',
      '5 refused policies[0].burst: burst: expected undefined for sliding-window (an option of token-bucket and gcra), received 5',
    ],
    [
      'slices of a bucket',
      'limit: 50, per: 1m, algorithm: gcra, slices: 5',
      '5 refused policies[0].slices: slices: expected undefined for gcra (an option of sliding-window), received 5',
    ],
    [
      'a log that is too long',
      'limit: { free: 10, pro: 200 }, per: 1m, algorithm: sliding-log',
      '5 refused policies[0].limit.pro: limit: expected at most 128 for sliding-log (in all plans and overrides), received 200; use sliding-window with slices',
    ],
    [
      'units that are shorter than 1 ms',
      'limit: 2000, per: 1s, algorithm: gcra',
      '5 refused policies[0].limit: limit: expected at most one unit per ms for gcra, received 2000 units in 1000 ms; use token-bucket',
    ],
    [
      'a cost above the limit',
      'limit: 50, per: 1m, cost: 51',
      '5 refused policies[0].cost: cost: expected at most 50, the units of an unused key, received 51',
    ],
    [
      'a reservation above the burst',
      'limit: 50, per: 1m, algorithm: token-bucket, burst: 5, cost: { reserve: 6, settle: x }',
      '5 refused policies[0].cost.reserve: cost.reserve: expected at most 5, the units of an unused key, received 6',
    ],
    [
      'a unit that a header cannot contain',
      'limit: 50, per: 1m, unit: "µs"',
      '5 refused policies[0].unit: unit: expected 1 to 128 printable ASCII characters (an RFC 9651 string), received "µs"',
    ],
  ])('is an error: %s', (_what, fields, expected) => {
    const [finding, ...others] = check(file([`name: a, ${fields}`]))
    expect(others).toEqual([])
    expect(finding).toMatchObject({ severity: 'error', policy: 'a', line: 3 })
    expect(`5 ${finding.rule} ${finding.path}: ${finding.message}`).toBe(expected)
  })
})

describe('a key that is a full address', () => {
  test.each([
    'ip',
    'client_ip',
    'clientIp',
    'remoteAddress',
    'remote_addr',
    'header:x-forwarded-for',
    'header:cf-connecting-ip',
    'req.ip',
  ])('is reported for the attribute %s', (attribute) => {
    expect(rules([`name: a, key: "${attribute}", limit: 1, per: 1s`])).toEqual(['full-address-key a'])
    expect(check(file([`name: a, key: [route, "${attribute}"], limit: 1, per: 1s`]))[0].path).toBe('policies[0].key[1]')
  })

  test.each([
    'address',
    'principal',
    'email_address',
    'ip_prefix',
    'client_ip_hash',
    'ip-country',
    'zip',
    'header:x-forwarded-proto',
    'tip',
    'ship',
  ])('is not reported for the attribute %s', (attribute) => {
    expect(rules([`name: a, key: "${attribute}", limit: 1, per: 1s`])).toEqual([])
  })

  test('is a hint in a list of blocked addresses', () => {
    const lists = "lists:\n  allow: ['2001:db8::1']\n  block: [203.0.113.7, '2001:db8::1', '2001:db8::/32', acme]\n"
    expect(found(['name: a, limit: 1, per: 1s'], lists)).toEqual([
      "6:24 full-address-key lists.block[1]: '2001:db8::1' is one address of an IPv6 client, which can use another one; " +
        "its network is '2001:db8::/56'",
    ])
  })
})

describe('an override without an effect', () => {
  const override = (key: string, policy = 'name: a, limit: 1, per: 1s') =>
    found([policy], `overrides:\n  - { policy: a, key: ${JSON.stringify(key)}, limit: 5 }\n`)

  test('is reported for a key that no client has', () => {
    expect(override('2001:db8::1')).toEqual([
      "5:23 unused-override overrides[0].key: 'a' counts addresses, and no client has the key '2001:db8::1': expected " +
        "'2001:db8::/56'",
    ])
    expect(override('acme')).toEqual([
      "5:23 unused-override overrides[0].key: 'a' counts addresses, and no client has the key 'acme': expected an address " +
        "such as '203.0.113.7' or '2001:db8::/56'",
    ])
    expect(override('2001:db8::/48')).toHaveLength(1)
    for (const key of ['203.0.113.7', '2001:db8::/56', '::1', 'no-address']) expect(override(key)).toEqual([])
  })

  test('is reported for a value that the policy does not match', () => {
    const policy = 'name: a, match: { product: [slides, docs] }, key: product, limit: 1, per: 1s'
    expect(override('docs', policy)).toEqual([])
    expect(override('mail', policy)).toEqual([
      "5:23 unused-override overrides[0].key: 'a' matches only requests whose product is slides or docs, never 'mail'",
    ])
  })

  test('is reported for a key of several values', () => {
    const policy = ['name: a, key: [principal, address], limit: 1, per: 1s']
    const messages = (key: string | readonly string[]) =>
      check(file(policy, `overrides:\n  - { policy: a, key: ${JSON.stringify(key)}, limit: 5 }\n`)).map(
        ({ message }) => message,
      )
    expect(messages(['acme', '203.0.113.7'])).toEqual([])
    expect(messages('acme')).toEqual([
      expect.stringContaining("applies to each address of principal 'acme' separately"),
    ])
    expect(messages(['acme', 'here'])).toEqual([expect.stringContaining("no client has the key 'here'")])
    expect(messages(['acme', '203.0.113.7', 'x'])).toEqual([expect.stringContaining('of this override has 3 parts')])
  })

  test('is reported if a later override has the same key', () => {
    const both = 'overrides:\n  - { policy: a, key: acme, limit: 5 }\n  - { policy: a, key: acme, limit: 6 }\n'
    expect(found(['name: a, key: principal, limit: 1, per: 1s'], both)).toEqual([
      "5:23 unused-override overrides[0].key: a later override of 'a' has the same key",
    ])
  })
})

test('the limit of a plan that the policy does not match is reported', () => {
  const policy = (plan: string) => [`name: a, match: { plan: ${plan} }, limit: { free: 1, pro: 2 }, per: 1s`]
  expect(found(policy('pro'))).toEqual([
    "3:53 unused-limit policies[0].limit.free: 'a' matches only requests whose plan is pro, never 'free'",
  ])
  expect(rules(policy('trial'))).toEqual(['unused-limit a', 'unused-limit a'])
  expect(rules(policy('[free, pro]'))).toEqual([])
})

describe('limits of several processes', () => {
  test('a window is compared with the tick of synced backends', () => {
    const policy = ['name: a, limit: 10, per: 3s']
    expect(found(policy)).toEqual([])
    expect(found(policy, '', { syncTickMs: 750 })).toEqual([])
    expect(found(policy, '', { syncTickMs: 1_000 })).toEqual([
      '3:32 short-window policies[0].per: the window of 3s is too short for a synced backend: expected at least 4000 ms, ' +
        'which is 4 ticks of 1000 ms',
    ])
    expect(check(file(['name: a, limit: 10, per: 500ms']))).toMatchObject([{ rule: 'short-window', severity: 'hint' }])
  })

  test('a limit is compared with the number of processes', () => {
    const policy = ['name: a, key: principal, limit: { free: 3, pro: 8 }, per: 1m']
    const overrides = 'overrides:\n  - { policy: a, key: acme, limit: 7 }\n'
    expect(check(file(policy, overrides))).toEqual([])
    expect(check(file(policy, overrides), { processes: 8 }).map(({ path, severity }) => [path, severity])).toEqual([
      ['policies[0].limit.free', 'warning'],
      ['overrides[0].limit', 'warning'],
    ])
  })
})

describe('a change of a document', () => {
  const change = (before: string, after: string) =>
    found([after], '', { previous: parsePolicies(file([before]), 'previous.yaml') })

  test('is a hint if it starts a separate count', () => {
    expect(change('name: a, limit: 50, per: 1m', 'name: a, limit: 50, per: 1h')).toEqual([
      "3:32 changed-count policies[0].per: per of 'a' changes from 1m to 1h, which starts a separate count: a process " +
        'that reloads the file carries usage over, a new process starts without it, and processes with different files ' +
        'count separately',
    ])
    expect(change('name: a, key: team, limit: 50, per: 1m', 'name: a, key: user, limit: 50, per: 1m')).toEqual([
      "3:21 changed-count policies[0].key: key of 'a' changes from team to user, which starts a separate count: all keys " +
        'start unused, and processes with different files count separately',
    ])
    const algorithm = change('name: a, limit: 30, per: 1m', 'name: a, limit: 50, per: 1m')
    expect(algorithm[0]).toContain("algorithm of 'a' changes from sliding-log to sliding-window")
  })

  test('is a hint if denied callers begin or stop to book turns', () => {
    const policy = 'name: a, limit: 50, per: 1m'
    const [begin] = change(policy, `${policy}, retry: booked`)
    expect(begin).toContain("3:43 changed-count policies[0].retry: retry of 'a' changes from none to booked, which")
    const [end] = change(`${policy}, retry: booked`, policy)
    expect(end).toContain("policies[0].retry: retry of 'a' changes from booked to none, which starts a separate count")
  })

  test('has no finding if all units remain in one count', () => {
    expect(change('name: a, limit: 50, per: 1m', 'name: a, limit: 60, per: 1m')).toEqual([])
    expect(change('name: b, limit: 50, per: 1m', 'name: a, limit: 60, per: 1h')).toEqual([])
    const bucket = 'name: a, limit: 50, per: 1m, algorithm: token-bucket'
    expect(change(bucket, bucket.replace('1m', '2m'))).toEqual([])
  })

  test('is a hint if gcra, which stores times, has another rate', () => {
    const policy = 'name: a, limit: { free: 50, pro: 90 }, per: 1m, algorithm: gcra'
    const [limit] = change(policy, policy.replace('50', '60'))
    expect(limit).toContain("limit of 'a' changes from free 50, pro 90 to free 60, pro 90 (gcra stores times, which")
    const [per] = change(policy, policy.replace('1m', '2m'))
    expect(per).toContain("per of 'a' changes from 1m to 2m (gcra stores times, which depend on the rate)")
  })
})

test('findings without the text of the file have a path and no line', () => {
  const document = parsePolicies(file(['name: a, limit: 1, per: 1s, mode: off']), 'policies.yaml')
  expect(checkPolicies(document)).toEqual([
    {
      rule: 'never-binds',
      severity: 'warning',
      policy: 'a',
      path: 'policies[0].mode',
      message: "'a' never applies: its mode is off",
    },
  ])
})

test('invalid options are refused', () => {
  const document = parsePolicies(file(['name: a, limit: 1, per: 1s']), 'policies.yaml')
  for (const options of [{ processes: 0 }, { syncTickMs: 50 }, { proceses: 4 }]) {
    expect(() => checkPolicies(document, options as CheckOptions)).toThrow(/SLUICE_BAD_OPTION: checkPolicies/)
  }
})

test('a file with a thousand policies is checked without a comparison that takes minutes', () => {
  const policies = Array.from({ length: 1_000 }, (_, index) => {
    return `name: p${index}, match: { product: p${index % 100}, tier: t${index} }, limit: ${100 + index}, per: 1m`
  })
  expect(check(file(policies))).toEqual([])
})

test('a policy with bans is never redundant', () => {
  const ban = 'ban: { after: 20, within: 1m, for: 10m }'
  expect(found(['name: a, limit: 5, per: 1m', `name: b, limit: 5, per: 1m, ${ban}`])).toEqual([])
  expect(found(['name: a, limit: 5, per: 1m', 'name: b, limit: 5, per: 1m'])).toHaveLength(1)
})
