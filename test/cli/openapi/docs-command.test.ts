import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sluice } from '../run-sluice.ts'

const POLICIES = `version: 1
policies:
  - { name: all, key: principal, limit: 100, per: 1m }
  - { name: login, limit: 5, per: 15m, match: { route: [POST /login, POST /token] }, ban: { after: 20, within: 1m, for: 10m, growth: 2 } }
  - { name: search, key: [principal, "header:x-team"], limit: { free: 10, pro: 1000 }, per: 1s, unit: ms, cost: { reserve: 5, settle: db_ms } }
  - { name: bulk, limit: 1, per: 1d, match: { product: "a|\`b\`" }, when: "request.method == 'POST' || attributes.x == '<b>'", replaces: [all], rollout: 25% }
  - { name: next, limit: 50, per: 1h, mode: shadow, algorithm: token-bucket, burst: 70 }
  - { name: none, limit: 1, per: 1h, mode: off }
overrides:
  - { policy: all, key: acme, limit: 500 }
lists:
  allow: [10.0.0.0/8]
  block: { file: blocked.txt }
`
let folder: string
let policies: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
  policies = join(folder, 'policies.yaml')
  writeFileSync(policies, POLICIES)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('sluice docs', () => {
  test('prints the limits as a table in Markdown', async () => {
    const { exitCode, stdout, stderr } = await sluice(['docs', '--policies', policies])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      '| Policy | Limit | Counted for each | Requests | Above the limit |',
      '| --- | --- | --- | --- | --- |',
      '| `all` | 100 requests per minute; 1 key has a key-specific limit | `principal` | all | denied with 429 |',
      '| `login` | 5 requests per 15 minutes | client address | `POST /login` or `POST /token` | denied with 429; banned for 10 minutes after 20 denied requests within 1 minute, longer each time |',
      '| `search` | 10 (plan `free`), 1,000 (plan `pro`) ms per second; a request takes 5 ms until `db_ms` is known | `principal` and value of the header `x-team` | all | denied with 429 |',
      "| `bulk` | 1 request per day | client address (25% of them) | `product` `a\\|'b'`, if `request.method == 'POST' \\|\\| attributes.x == '<b>'`, instead of `all` | denied with 429 |",
      '| `next` | 50 requests per hour; at most 70 at once | client address | all | would be denied (shadow mode) |',
      '',
      'Exempt from all limits: 1 address, range or key.',
      '',
      'Always denied: the entries of `blocked.txt`.',
      '',
    ])
  })

  test('prints a page and a text', async () => {
    const { stdout: page } = await sluice(['docs', '--policies', policies, '--format', 'html'])
    expect(page).toContain('<td><code>all</code></td><td>100 requests per minute; 1 key has a key-specific limit</td>')
    expect(page).not.toContain('<b>')
    const output = join(folder, 'limits.txt')
    expect(await sluice(['docs', '--policies', policies, '--format', 'text', '--output', output])).toMatchObject({
      exitCode: 0,
      stdout: '',
    })
    const text = readFileSync(output, 'utf8')
    expect(text).toMatch(/^POLICY {2}LIMIT .*\nall {5}100 requests per minute/)
    expect(text).not.toContain('`')
  })

  test('an invalid file ends with 1, and one that cannot be read with 2', async () => {
    writeFileSync(join(folder, 'invalid.yaml'), 'version: 1\npolicies: []\n')
    const invalid = await sluice(['docs', '--policies', join(folder, 'invalid.yaml')])
    expect(invalid).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('SLUICE_BAD_POLICY_FILE') })
    expect((await sluice(['docs', '--policies', join(folder, 'missing.yaml')])).exitCode).toBe(2)
    expect((await sluice(['docs', '--policies', policies, '--format', 'pdf'])).exitCode).toBe(2)
  })
})
