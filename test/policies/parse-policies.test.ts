import { describe, expect, test } from '@jest/globals'
import { type FileProblem, type PolicyFileError, parsePolicies } from '@sluice/policies'

const VALID = `# limits of the API
version: 1
policies:
  - name: slides-enterprise
    match: { product: slides, customer_type: enterprise, resource_type: api_call }
    limit: 1000
    per: 1m
  - name: db-time
    match: { product: [slides, docs] }
    unit: ms
    limit: 60000
    per: 1m
    retry: booked
    cost: { reserve: 20, settle: db_ms }
    ban: { after: 20, within: 1m, for: 10m, growth: 2, max: 1d, forget: 1w, strikes: failures, forgiveOn: success }
  - name: search
    match: { route: "GET /search" }
    when: "request.headers['x-internal'] != 'true'"
    key: [principal, route]
    limit: { free: 10, pro: 100 }
    per: 1s
    mode: shadow
    rollout: 25%
    replaces: [db-time]
overrides:
  - { policy: search, key: acme, limit: 500 }
lists:
  allow: [10.0.0.0/8]
  block: { file: blocklist.txt }
`

function problemsOf(text: string): readonly FileProblem[] {
  try {
    parsePolicies(text, 'policies.yaml')
  } catch (error) {
    expect(error).toMatchObject({ code: 'SLUICE_BAD_POLICY_FILE' })
    return (error as PolicyFileError).problems
  }
  throw new Error('the file is valid')
}

/** The problems as `line:column path: message`. */
const told = (text: string): string[] =>
  problemsOf(text).map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)

const valid = (fields: string): string => `version: 1\npolicies:\n  - name: a\n    per: 1m\n    ${fields}\n`

describe('parsePolicies', () => {
  test('returns the contents of a YAML file', () => {
    const { version, policies, overrides, lists } = parsePolicies(VALID, 'policies.yaml')
    expect(version).toBe(1)
    expect(policies.map(({ name }) => name)).toEqual(['slides-enterprise', 'db-time', 'search'])
    expect(policies[1]).toMatchObject({
      match: { product: ['slides', 'docs'] },
      retry: 'booked',
      cost: { reserve: 20, settle: 'db_ms' },
      ban: { after: 20, within: '1m', for: '10m', growth: 2, max: '1d', strikes: 'failures', forgiveOn: 'success' },
    })
    expect(policies[2]).toMatchObject({ limit: { free: 10, pro: 100 }, rollout: '25%', mode: 'shadow' })
    expect(overrides).toEqual([{ policy: 'search', key: 'acme', limit: 500 }])
    expect(lists).toEqual({ allow: ['10.0.0.0/8'], block: { file: 'blocklist.txt' } })
  })

  test('returns the same from JSON', () => {
    const contents = parsePolicies(VALID, 'policies.yaml')
    expect(parsePolicies(JSON.stringify(contents, undefined, 2), 'policies.json')).toEqual(contents)
  })

  test.each([
    [
      'an unknown field',
      valid('limt: 5'),
      ["3:5 policies[0]: the field 'limit' is missing", "5:5 policies[0]: unknown field 'limt', did you mean 'limit'?"],
    ],
    ['a missing field', 'version: 1\n', ["1:1 : the field 'policies' is missing"]],
    [
      'another version',
      'version: 2\npolicies: [{ name: a, limit: 1, per: 1s }]\n',
      ['1:10 version: expected 1, received 2'],
    ],
    [
      'a limit of zero',
      valid('limit: 0'),
      ['5:12 policies[0].limit: expected an integer from 1 to 999,999,999,999,999, or limits by plan, received 0'],
    ],
    [
      'a limit that is a text',
      valid("limit: '5'"),
      ["5:12 policies[0].limit: expected an integer from 1 to 999,999,999,999,999, or limits by plan, received '5'"],
    ],
    [
      'a limit of a plan',
      valid('limit: { free: many }'),
      ["5:20 policies[0].limit.free: expected an integer from 1 to 999,999,999,999,999, received 'many'"],
    ],
    [
      'an algorithm',
      valid('limit: 1\n    algorithm: slidng-window'),
      [
        "6:16 policies[0].algorithm: expected sliding-log, sliding-window, fixed-window, token-bucket or gcra, received 'slidng-window', did you mean 'sliding-window'?",
      ],
    ],
    [
      'a retry',
      valid('limit: 1\n    retry: boked'),
      ["6:12 policies[0].retry: expected booked, received 'boked', did you mean 'booked'?"],
    ],
    [
      'a retry that is not a text',
      valid('limit: 1\n    retry: true'),
      ['6:12 policies[0].retry: expected booked, received true'],
    ],
    [
      'a duration',
      'version: 1\npolicies:\n  - { name: a, limit: 1, per: 60 }\n',
      ['3:31 policies[0].per: expected a duration such as 500ms, 10s, 1m, 1h, 1d or 1w, received 60'],
    ],
    [
      'a share',
      valid('limit: 1\n    rollout: 101%'),
      ["6:14 policies[0].rollout: expected a share from 0% to 100%, such as 25%, received '101%'"],
    ],
    [
      'a ban without a duration',
      valid('limit: 1\n    ban: { after: 20, within: 1m }'),
      ["6:10 policies[0].ban: the field 'for' is missing"],
    ],
    [
      'the options of a ban',
      valid(
        'limit: 1\n    ban: { after: 0, within: 60, for: 10m, growth: 0.5, strikes: denial, extend: always, untill: 1d }',
      ),
      [
        '6:19 policies[0].ban.after: expected an integer from 1 to 999,999,999,999,999, received 0',
        '6:30 policies[0].ban.within: expected a duration such as 500ms, 10s, 1m, 1h, 1d or 1w, received 60',
        '6:52 policies[0].ban.growth: expected a number of at least 1, received 0.5',
        "6:66 policies[0].ban.strikes: expected denials, failures or a list of statuses from 400 to 599, received 'denial'",
        "6:82 policies[0].ban.extend: expected true or false, received 'always'",
        "6:90 policies[0].ban: unknown field 'untill'",
      ],
    ],
    ['an empty file', '', ['1:1 : expected a map of fields, received null']],
    ['a list instead of a file', '- a\n', ['1:1 : expected a map of fields, received an array of length 1']],
    [
      'a name that is used twice',
      'version: 1\npolicies:\n  - { name: a, limit: 1, per: 1s }\n  - { name: a, limit: 2, per: 1s }\n',
      ["4:13 policies[1].name: the name 'a' is already used in line 3"],
    ],
    [
      'an override of an unknown policy',
      `${VALID.replace('policy: search', 'policy: serch')}`,
      ["26:15 overrides[0].policy: no policy is named 'serch', did you mean 'search'?"],
    ],
    [
      'an unknown policy in replaces',
      VALID.replace('[db-time]', '[cpu]'),
      ["24:16 policies[2].replaces[0]: no policy is named 'cpu'"],
    ],
  ])('reports %s with its place', (_what, text, expected) => {
    expect(told(text)).toEqual(expected)
  })

  test('reports all problems, in the order of the file', () => {
    const text = valid('limit: -1\n    mode: on\n    burst: x')
    expect(problemsOf(text).map(({ line }) => line)).toEqual([5, 6, 7])
  })

  test('reports mistakes of the syntax with their places', () => {
    expect(problemsOf('version: 1\npolicies: [\n')[0]).toMatchObject({ line: 3 })
    expect(problemsOf('version: 1\nversion: 1\n')[0]).toMatchObject({ line: 2, column: 1 })
    expect(problemsOf('{ "version": 1, }}')[0]).toMatchObject({ line: 1 })
  })

  test('names the file, line and column in the message of the error', () => {
    expect(() => parsePolicies('version: 1\n', 'limits/policies.yaml')).toThrow(
      /: limits\/policies\.yaml:1:1: the field 'policies' is missing/,
    )
  })

  test('refuses a small text that describes a huge document', () => {
    const levels = Array.from({ length: 9 }, (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`)
    expect(problemsOf(`l0: &l0 [x]\n${levels.join('\n')}\n`)[0]?.message).toMatch(/alias/)
  })

  test('has no property of the prototype of objects', () => {
    const text = `${VALID}__proto__: { polluted: true }\nconstructor: 1\n`
    expect(told(text).map((line) => line.split(':')[2])).toEqual(
      [' unknown field', ' unknown field'].map(() => expect.any(String)),
    )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    const match = parsePolicies(VALID.replace('product: slides,', '__proto__: slides,'), 'a').policies[0]?.match
    expect(Object.keys(match ?? {})).toContain('__proto__')
  })
})
