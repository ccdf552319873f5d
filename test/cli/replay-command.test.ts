import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from '@jest/globals'
import { replayCommand } from '@sluice/cli'
import { seededRandom } from '@sluice/testkit'
import { combinedLine, crowdLines } from './log-lines.ts'
import { CommandFolder, replayed, TextSink } from './replay-run.ts'

const folder = new CommandFolder()
afterAll(() => folder.remove())

const policies = folder.file('policies.yaml', 'version: 1\npolicies:\n  - { name: api, limit: 20, per: 1m }\n')
const crowd = crowdLines(seededRandom(5), { lines: 2000, clients: 150, gapMs: 500 })
const text = crowd.map((line) => `${combinedLine(line)}\n`).join('')
const log = folder.file('access.log', text)

interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function run(files: readonly string[], options: Partial<Parameters<typeof replayCommand>[1]> = {}): Promise<Run> {
  const [stdout, stderr] = [new TextSink(), new TextSink()]
  const code = await replayCommand(files, { policies, stdout, stderr, ...options })
  return { code, out: stdout.text, err: stderr.text }
}

describe('sluice replay', () => {
  test('prints plain text that says what to do', async () => {
    const { code, out, err } = await run([log])
    expect([code, err]).toEqual([0, ''])
    expect(out).not.toContain('\x1b')
    expect(out).toMatch(/^2,000 lines of .*access\.log, 2026-05-17 10:00 to 2026-05-17 10:\d\d UTC\n/)
    expect(out).toMatch(/\d+ of 2,000 requests denied \([\d.]+ %\), [\d.]+ % of 149 clients touched/)
    expect(out).toMatch(/│ api +│ 20 \/ 1m │ +2,000 │/)
    expect(out).toMatch(/api: \d+ per 1m proposed\. 99 % of 149 clients never used more than/)
    expect(out).toContain('Keys that api denied most')
    expect(out).toContain('Routes that api denied most')
    expect(out).toContain('Hours with the most denials (UTC)')
  })

  test('uses colours on a terminal, unless NO_COLOR is set', async () => {
    const before = process.env.NO_COLOR
    delete process.env.NO_COLOR
    const terminal = new TextSink(true)
    await run([log], { stdout: terminal })
    process.env.NO_COLOR = '1'
    const plain = new TextSink(true)
    await run([log], { stdout: plain })
    if (before === undefined) delete process.env.NO_COLOR
    else process.env.NO_COLOR = before
    expect(terminal.text).toContain('\x1b[1m')
    expect(plain.text).not.toContain('\x1b')
  })

  test('reads several files, compressed ones and the standard input as one log', async () => {
    const cut = text.indexOf('\n', text.length >> 1) + 1
    const older = folder.file('access.log.1.gz', gzipSync(text.slice(0, cut)))
    const whole = await replayed([log], { policies })
    const parts = await replayed(['-', older], { policies, stdin: Readable.from([Buffer.from(text.slice(cut))]) })
    expect({ ...parts, log: null }).toEqual({ ...whole, log: null })
    expect(parts.log.files.map(({ name }) => name)).toEqual(['-', older])
  })

  test('writes an HTML report', async () => {
    const html = join(folder.path, 'report.html')
    expect((await run([log], { html })).code).toBe(0)
    const page = readFileSync(html, 'utf8')
    expect(page).toMatch(/^<!doctype html>/)
    expect(page.match(/<svg /g)).toHaveLength(3)
  })

  test('fails with a message if the policy file or the log cannot be used', async () => {
    const bad = folder.file('bad.yaml', 'version: 1\npolicies:\n  - { name: api, limt: 1, per: 1m }\n')
    const log129 = folder.file(
      'log129.yaml',
      'version: 1\npolicies:\n  - { name: api, limit: 129, per: 1m, algorithm: sliding-log }\n',
    )
    const missing = join(folder.path, 'missing')
    const results = [
      await run([log], { policies: bad }),
      await run([log], { policies: log129 }),
      await run([log], { policies: missing }),
      await run([missing]),
      await run([log], { format: 'apache' }),
      await run([log], { routes: ['teams'] }),
    ]
    expect(results.map(({ code, out }) => [code, out])).toEqual([1, 1, 2, 2, 2, 2].map((exitCode) => [exitCode, '']))
    expect(results.map(({ err }) => /SLUICE_\w+: [^\n]*/.exec(err)?.[0])).toEqual([
      expect.stringContaining(`SLUICE_BAD_POLICY_FILE: ${bad}:3:`),
      expect.stringContaining('SLUICE_BAD_POLICY: '),
      expect.stringContaining('SLUICE_BAD_OPTION: policies: expected a readable file'),
      expect.stringContaining('SLUICE_BAD_OPTION: log: expected a readable file'),
      expect.stringContaining("SLUICE_BAD_OPTION: format: expected 'auto'"),
      expect.stringContaining("SLUICE_BAD_OPTION: route: expected a pattern such as 'GET /teams/:team'"),
    ])
  })

  test('fails if no line of the log can be read, and shows the first ones', async () => {
    const { code, out } = await run([folder.file('none.log', 'nonsense\n')])
    expect(code).toBe(1)
    expect(out).toContain("none.log:1: expected ' ' after $remote_addr: nonsense")
  })

  test('shows its progress on a terminal only', async () => {
    const terminal = Object.assign(new TextSink(true), {
      ...{ cursorTo: () => true, clearLine: () => true, moveCursor: () => true, columns: 80 },
      ...{ on: () => terminal, once: () => terminal, removeListener: () => terminal },
    })
    await run([log], { stderr: terminal })
    expect(terminal.text).toMatch(/100 % \| 2,000 lines/)
  })
})
