import { afterAll, describe, expect, test } from '@jest/globals'
import { diffCommand } from '@sluice/cli'
import { combinedLine, type Line, LOG_START } from './log-lines.ts'
import { CommandFolder, compared, TextSink } from './replay-run.ts'

const folder = new CommandFolder()
afterAll(() => folder.remove())

const at = (second: number, address: string, path: string): Line => {
  return { timeMs: LOG_START + second * 1000, address, request: `GET ${path} HTTP/1.1` }
}
const lines = [
  ...[0, 1, 2].map((second) => at(second, '192.0.2.1', '/search')),
  ...[10, 11, 12, 13].map((second) => at(second, '192.0.2.2', '/teams/1')),
  at(20, '192.0.2.3', '/'),
]
const log = folder.file('access.log', lines.map((line) => `${combinedLine(line)}\n`).join(''))
const policies = (name: string, text: string): string => folder.file(name, `version: 1\npolicies:\n${text}`)
const before = policies('old.yaml', '  - { name: search, match: { route: "GET /search" }, limit: 1, per: 1m }\n')
const after = policies(
  'new.yaml',
  `  - { name: search, match: { route: "GET /search" }, limit: 2, per: 1m }
  - { name: teams, match: { route: "GET /teams/:team" }, key: [address, route], limit: 2, per: 1m }
  - { name: watched, limit: 1, per: 1h, mode: shadow }
`,
)

describe('sluice diff', () => {
  test('finds whom a change would newly deny and newly admit', async () => {
    const report = await compared(before, after, { log: [log] })
    expect(report).toMatchObject({
      requests: 8,
      denied: { before: 2, after: 3 },
      clients: { count: 3, error: 0, sample: 1 },
    })
    expect(report.newlyDenied).toMatchObject({
      ...{ requests: 2, clients: { count: 1 }, topKeys: [{ key: '192.0.2.2', denied: 2 }] },
      topRoutes: [{ key: 'GET /teams/:team', denied: 2 }],
      policies: [
        { name: 'teams', requests: 2, topKeys: [{ key: '192.0.2.2 · GET /teams/:team', denied: 2, error: 0 }] },
      ],
    })
    expect(report.newlyAdmitted).toMatchObject({
      ...{ requests: 1, policies: [{ name: 'search', requests: 1, topKeys: [{ key: '192.0.2.1', denied: 1 }] }] },
    })
  })

  test('finds nothing between equal files', async () => {
    const report = await compared(after, after, { log: [log] })
    expect([report.newlyDenied.requests, report.newlyAdmitted.requests]).toEqual([0, 0])
  })

  test('prints plain text', async () => {
    const [stdout, stderr] = [new TextSink(), new TextSink()]
    expect(await diffCommand(before, after, { log: [log], stdout, stderr })).toBe(0)
    expect(stdout.text).toContain('Denied before: 2 of 8 requests. Denied after: 3.')
    expect(stdout.text).toContain('Newly denied: 2 requests (25 %) of 1 of 3 clients (33.3 %)')
    expect(stdout.text).toContain('Newly admitted: 1 requests (12.5 %) of 1 of 3 clients (33.3 %)')
    expect(stdout.text).toContain('Newly denied by route')
    const columns = [...stdout.text.matchAll(/^\W*(?:Key|Route)\W+(\w+)/gm)].map(([, column]) => column)
    expect(columns).toEqual(['Denied', 'Denied', 'Admitted', 'Admitted'])
    expect(stderr.text).toBe('')
  })

  test('fails with a message if a file cannot be read', async () => {
    const [stdout, stderr] = [new TextSink(), new TextSink()]
    expect(await diffCommand(before, `${after}x`, { log: [log], stdout, stderr })).toBe(2)
    expect(stderr.text).toContain('SLUICE_BAD_OPTION: policies: expected a readable file')
  })
})
