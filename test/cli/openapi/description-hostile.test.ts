import { describe, expect, test } from '@jest/globals'
import { parsePolicies } from '@sluice/policies'
import { eachSeed } from '@sluice/testkit'
import { parse, stringify } from 'yaml'
import { type LimitedDescription, limitedDescription } from '../../../packages/cli/src/openapi/description-limits.ts'
import type { Dialect } from '../../../packages/cli/src/openapi/rate-headers.ts'
import { anyDescription, anyPolicies } from './any-description.ts'

const ALL = 'version: 1\npolicies:\n  - { name: all, limit: 100, per: 1m }\n'
const OFF = ALL.replace('limit', 'mode: off, limit')
const HEAD = 'openapi: 3.1.0\ninfo: { title: a, version: "1" }\n'

function limited(text: string, policies = ALL, dialects: readonly Dialect[] = ['draft']): LimitedDescription {
  const document = parsePolicies(policies, 'policies.yaml')
  return limitedDescription(text, document, { file: 'openapi.yaml', dialects, overload: false })
}

/** Returns a description without empty maps and lists, and without `null` in their place. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutEmpty)
  const fields = Object.entries(value).map(([name, one]) => [name, withoutEmpty(one)] as const)
  const full = fields.filter(
    ([, one]) => one !== null && (typeof one !== 'object' || Object.keys(one as object).length > 0),
  )
  return Object.fromEntries(full)
}

/** Returns a parsed description without what its author may have written into `x-rate-limits`. */
function withoutLimits(text: string): unknown {
  return withoutEmpty(
    JSON.parse(JSON.stringify(parse(text), (name, one) => (name === 'x-rate-limits' ? undefined : one))),
  )
}

describe('any description', () => {
  test('is as the policies say after one run, and as before without policies', async () => {
    await eachSeed(30, (random) => {
      const text = anyDescription(random)
      const [policies, other] = [anyPolicies(random), anyPolicies(random)]
      const dialects = random.pick<readonly Dialect[]>([['draft'], ['draft-6', 'legacy'], [], ['openai']])
      const { text: first, findings } = limited(text, policies, dialects)
      expect(first !== text).toBe(findings.some(({ severity }) => severity === 'error'))
      const again = limited(first, policies, dialects)
      expect(again.text).toBe(first)
      expect(again.findings.filter(({ severity }) => severity === 'error')).toEqual([])
      if (text.startsWith('{"')) JSON.parse(first)
      for (const comment of text.match(/# comment .*/g) ?? []) {
        if (!text.includes('x-rate-limits')) expect(first).toContain(comment)
      }
      // the policies of an earlier run leave no trace
      expect(withoutEmpty(parse(limited(first, other).text))).toEqual(withoutEmpty(parse(limited(text, other).text)))
      expect(withoutLimits(limited(first, OFF).text)).toEqual(withoutLimits(text))
    })
  })
})

describe('a description', () => {
  test.each([
    ['a syntax error', `${HEAD}paths: [\n`, /^SLUICE_BAD_DESCRIPTION: openapi\.yaml:4:1: /],
    ['a field twice', `${HEAD}info: {}\n`, /openapi\.yaml:3:1: Map keys must be unique/],
    ['a list', '- openapi: 3.1.0\n', /openapi\.yaml:1:1: expected a map of fields/],
    ['nothing', '', /openapi\.yaml:1:1: expected a map of fields/],
    ['version 2', 'swagger: "2.0"\n', /openapi\.yaml:1:1: openapi: expected version 3\.0 or 3\.1, received none/],
    ['an unfinished object', '{"openapi": "3.1.0",', /openapi\.yaml:1:2\d: /],
  ])('with %s is refused with its line', (_what, text, message) => {
    expect(() => limited(text)).toThrow(message)
  })

  test('with circular references is read to its end', () => {
    const { text, findings } = limited(`${HEAD}paths:
  /a: { $ref: '#/paths/~1b' }
  /b: { $ref: '#/paths/~1a' }
  /c: { $ref: ./other.yaml }
  /d:
    get: { responses: { 200: { $ref: '#/components/responses/A' }, 404: { $ref: '#/components/responses/A/x' } } }
components:
  responses:
    A: { $ref: '#/components/responses/B' }
    B: { $ref: '#/components/responses/A' }
`)
    expect(findings.filter(({ severity }) => severity === 'hint').map(({ message }) => message)).toEqual([
      '/a: the path item is not in this file (#/paths/~1b) and is not changed',
      '/b: the path item is not in this file (#/paths/~1a) and is not changed',
      '/c: the path item is not in this file (./other.yaml) and is not changed',
      'GET /d: the response 200 is not in this file (#/components/responses/A) and is not changed',
      'GET /d: the response 404 is not in this file (#/components/responses/A/x) and is not changed',
    ])
    expect(limited(text).text).toBe(text)
  })

  test('with shared maps is changed once: references, aliases and merged maps', () => {
    const { text } = limited(`${HEAD}paths:
  /a: &a
    get: { responses: &responses { 204: { description: Done } } }
  /b: { $ref: '#/paths/~1a' }
  /c: *a
  /d:
    get: { responses: *responses }
  /e:
    get:
      responses:
        <<: { 429: { description: By hand } }
`)
    expect(limited(text).text).toBe(text)
    const { paths } = parse(text, { merge: true })
    expect(Object.keys(paths['/d'].get.responses)).toEqual(['204', '429'])
    expect(paths['/e'].get.responses[429].description).toBe('By hand')
    expect(text.match(/components\/responses\/TooManyRequests/g)).toHaveLength(1)
  })

  test.each([
    ['a byte order mark', `\ufeff${HEAD}paths:\n  /a:\n    get: {}\n`],
    ['a document end', `%YAML 1.2\n---\n${HEAD}paths:\n  /a:\n    get: {}\n...\n`],
    ['explicit keys', `${HEAD}paths:\n  ? /a\n  : get:\n      ? responses\n      : 200: { description: x }\n`],
    [
      'anchors and tags',
      `${HEAD}paths:\n  /a: &x\n    get: &y !!map\n      &k responses: &z\n        '200': { description: x }\n`,
    ],
    ['commas at the end', `${HEAD}paths: { /a: { get: { responses: { 200: { description: x, }, }, }, }, }\n`],
    [
      'comments in flow style',
      `${HEAD}paths: {\n  /a: { # one\n    get: { responses: { } # two\n    } } # three\n }\n`,
    ],
    ['empty values', `${HEAD}paths:\n  /a:\n    get:\n      responses: # later\n      tags:\n      -\n`],
    [
      'kept line breaks',
      `${HEAD}paths:\n  /a:\n    get:\n      responses:\n        200:\n          description: |+\n            x\n\n\n`,
    ],
  ])('with %s keeps its comments and is changed once', (_what, text) => {
    const { text: changed } = limited(text)
    expect(limited(changed)).toMatchObject({ text: changed, findings: [] })
    expect(parse(changed).paths['/a'].get['x-rate-limits']).toHaveLength(1)
    for (const comment of text.match(/# \w+/g) ?? []) expect(changed).toContain(comment)
  })

  test('with numbers above 2^53, escapes and tabs keeps them', () => {
    const text = `{\n\t"openapi": "3.0.3",\n\t"x": 9223372036854775807, "y": 1.50, "z": "\\u2028",\n\t"paths": { "/a": { "get": {} } }\n}`
    const { text: changed } = limited(text)
    for (const part of ['9223372036854775807', '1.50', '"\\u2028"']) expect(changed).toContain(part)
    expect(JSON.parse(changed).paths['/a'].get['x-rate-limits']).toHaveLength(1)
    expect(changed).toContain('\n\t"components": {\n\t\t"schemas"')
  })

  test('with names of prototypes and control characters is safe', () => {
    const hostile = {
      __proto__: null,
      constructor: { $ref: '#/__proto__' },
      '/\x1b[2J': { get: {} },
      '/%zz~2': { get: null },
    }
    const { findings } = limited(
      stringify({ openapi: '3.1.0', paths: hostile, components: { responses: 'text' } }),
      OFF,
    )
    expect(findings.map(({ message }) => message)).toEqual(['GET /\x1b[2J: no policy applies'])
  })

  test('of 1,000 operations takes about ten times as long as one of 100', () => {
    const timed = (operations: number): number => {
      const paths = Array.from({ length: operations }, (_, index) => [`/${index}/{id}`, { get: { responses: {} } }])
      const text = stringify({ openapi: '3.1.0', paths: Object.fromEntries(paths) })
      const start = process.cpuUsage()
      expect(limited(text).limited).toBe(operations)
      return process.cpuUsage(start).user
    }
    timed(100)
    expect(timed(1_000)).toBeLessThan(40 * Math.max(5_000, timed(100)))
  })
})
