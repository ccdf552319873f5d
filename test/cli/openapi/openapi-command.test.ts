import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { type Outcome, sluice } from '../run-sluice.ts'
import { POLICIES, shop } from './shop.ts'

let folder: string
const at = (name: string): string => join(folder, name)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-openapi-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the command on a description and policies. */
async function openapi(text: string, policies: string, ...options: readonly string[]): Promise<Outcome> {
  writeFileSync(at('openapi.yaml'), text)
  writeFileSync(at('policies.yaml'), policies)
  const outcome = await sluice(['openapi', at('openapi.yaml'), '--policies', at('policies.yaml'), ...options])
  return {
    ...outcome,
    stdout: outcome.stdout.replaceAll(`${folder}/`, ''),
    stderr: outcome.stderr.replaceAll(`${folder}/`, ''),
  }
}

const ONE = 'version: 1\npolicies:\n  - { name: all, limit: 100, per: 1m }\n'
const SMALL =
  'openapi: 3.1.0\ninfo: { title: a, version: "1" }\npaths:\n  /a:\n    get:\n      responses:\n        204: { description: Done }\n'

describe('sluice openapi', () => {
  test('adds responses, headers and limits, and keeps every line of the description', async () => {
    const { exitCode, stdout, stderr } = await openapi(shop('3.1.0'), POLICIES)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const lines = stdout.split('\n')
    const changed = shop('3.1.0')
      .split('\n')
      .filter((line) => !lines.includes(line))
    // the map in flow style has a header more
    expect(changed).toEqual([expect.stringContaining("'200': { description: Logged in")])
    const { paths, components } = parse(stdout)
    const denied = { $ref: '#/components/responses/TooManyRequests' }
    expect(paths['/login'].post.responses[429]).toEqual(denied)
    expect(Object.keys(paths['/login'].post.responses[200].headers)).toEqual([
      ...['Access-Control-Allow-Origin', 'RateLimit', 'RateLimit-Policy'],
    ])
    expect(paths['/login'].post['x-rate-limits']).toEqual([
      { policy: 'all', limit: 100, unit: 'requests', window: '1m', key: 'principal', cost: 1 },
      { policy: 'login', limit: 5, unit: 'requests', window: '15m', key: 'address', cost: 1 },
    ])
    // the path of the server and the pattern of the route name one operation, and values of attributes stay private
    expect(paths['/teams/{team}/search'].get['x-rate-limits'][1]).toEqual({
      policy: 'search',
      limit: { free: 10, pro: 100 },
      ...{ unit: 'ms', window: '1m', key: ['principal', 'header:x-team'] },
      cost: { reserve: 5, settle: 'db_ms' },
      dependsOn: ['customer'],
    })
    expect(stdout).not.toContain('acme')
    expect(Object.keys(components.headers)).toEqual([
      ...['RateLimit', 'RateLimit-Policy', 'Retry-After', 'Access-Control-Allow-Origin'],
    ])
  })

  test('a second run changes nothing, and --check is content', async () => {
    const { stdout: text } = await openapi(shop('3.0.3'), POLICIES, '--overload')
    expect((await openapi(text, POLICIES, '--overload')).stdout).toBe(text)
    expect(await openapi(text, POLICIES, '--overload', '--check')).toEqual({
      ...{ exitCode: 0, stderr: '' },
      stdout: '2 operations, 2 with limits: the description agrees with the policies\n',
    })
  })

  test('--output writes the description in place', async () => {
    const { stdout } = await openapi(SMALL, ONE)
    const written = await openapi(SMALL, ONE, '--output', at('openapi.yaml'))
    expect(written).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect(readFileSync(at('openapi.yaml'), 'utf8')).toBe(stdout)
    const refused = await openapi(SMALL, ONE, '--output', at('no/such/folder.yaml'))
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cannot write no/such/folder.yaml') })
  })

  test('--check names each difference with its place', async () => {
    const policies = `${ONE}  - { name: old, limit: 5, per: 1m, match: { route: GET /old } }\n`
    const { exitCode, stdout } = await openapi(SMALL, policies, '--check')
    expect(exitCode).toBe(1)
    expect(stdout.split('\n')).toEqual([
      'openapi.yaml:1:1: error: components.schemas has no RateLimitProblem',
      'openapi.yaml:1:1: error: components.responses has no TooManyRequests',
      'openapi.yaml:1:1: error: components.headers has no RateLimit, RateLimit-Policy, Retry-After',
      'openapi.yaml:6:7: error: GET /a: x-rate-limits is missing',
      'openapi.yaml:7:9: error: GET /a: the response 429 is missing',
      'openapi.yaml:7:14: error: GET /a: the response 204 has no header RateLimit, RateLimit-Policy',
      "policies.yaml:4:5: error: the description has no operation for the route 'GET /old' of 'old'",
      '1 operation, 1 with limits: 7 differences; run sluice openapi --output openapi.yaml to add them',
      '',
    ])
    const { stdout: text } = await openapi(SMALL, policies)
    expect(await openapi(text, policies, '--check', '--partial')).toMatchObject({ exitCode: 0 })
  })

  test('--check reports outdated limits, and operations without limits as hints', async () => {
    const { stdout: text } = await openapi(SMALL, ONE)
    const stricter = await openapi(text, ONE.replace('100', '50'), '--check')
    expect(stricter.exitCode).toBe(1)
    expect(stricter.stdout).toContain('GET /a: x-rate-limits differs from the policies')
    const other = 'version: 1\npolicies:\n  - { name: b, limit: 1, per: 1m, match: { method: POST } }\n'
    const { stdout } = await openapi(text, other, '--check')
    expect(stdout).toMatch(/openapi.yaml:6:7: hint: GET \/a: no policy applies/)
    expect(stdout).toMatch(/error: GET \/a: the response 429 is present, but no limit applies/)
    // what was added goes, and nothing else
    expect(parse((await openapi(text, other)).stdout)).toEqual(parse(SMALL))
  })

  test('keeps responses that were written by hand, and adds the headers that they lack', async () => {
    const own = `${SMALL}        429:\n          description: By hand\n          headers:\n            retry-after: { schema: { type: integer } }\n`
    const { stdout } = await openapi(own, ONE)
    const { 429: denied } = parse(stdout).paths['/a'].get.responses
    expect(denied.description).toBe('By hand')
    expect(Object.keys(denied.headers)).toEqual(['retry-after', 'RateLimit', 'RateLimit-Policy'])
    expect(parse(stdout).components.responses).toBeUndefined()
  })

  test('another dialect replaces the headers of the earlier one', async () => {
    const { stdout: draft } = await openapi(SMALL, ONE)
    const { stdout: legacy } = await openapi(draft, ONE, '--headers', 'legacy')
    expect(parse(legacy)).toEqual(parse((await openapi(SMALL, ONE, '--headers', 'legacy')).stdout))
    expect(legacy).not.toContain('RateLimit-Policy')
    const { exitCode, stderr } = await openapi(SMALL, ONE, '--headers', 'x')
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("Expected 'none' or some of") })
  })

  test('a block list denies requests of every operation, and --overload adds 503', async () => {
    const off = 'version: 1\npolicies:\n  - { name: a, limit: 1, per: 1m, mode: off }\nlists: { block: [192.0.2.1] }\n'
    const { stdout } = await openapi(SMALL, off, '--overload')
    const { get } = parse(stdout).paths['/a']
    expect(Object.keys(get.responses)).toEqual(['204', '429', '503'])
    expect(get['x-rate-limits']).toBeUndefined()
    expect(get.responses[204]).toEqual({ description: 'Done' })
  })

  test('conditions decide by method and route, as far as they can', async () => {
    const when = (condition: string): string =>
      `version: 1\npolicies:\n  - { name: a, limit: 1, per: 1m, when: "${condition}" }\n`
    const limits = async (condition: string): Promise<unknown> => {
      const [limit] = parse((await openapi(SMALL, when(condition))).stdout).paths['/a'].get['x-rate-limits'] ?? []
      return limit && (limit.dependsOn ?? 'all requests')
    }
    expect(await limits("request.method == 'POST' && attributes.plan == 'x'")).toBeUndefined()
    expect(await limits("attributes.plan == 'x' && request.method == 'GET'")).toEqual(['plan'])
    expect(await limits("request.route == 'GET /b' || request.headers['x-a'] == 'b'")).toEqual(['header:x-a'])
    expect(await limits("request.route == 'GET /a' || attributes.plan == 'x'")).toBe('all requests')
  })
})
