import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { CapturedOutput, sluice } from './run-sluice.ts'

let folder: string
const at = (name: string): string => join(folder, name)

const VALID = 'version: 1\npolicies:\n  - { name: api, limit: 100, per: 1m }\n'
const HINT = VALID.replace('1m', '100ms')
const WARNING = `version: 1
policies:
  - { name: api, limit: 100, per: 1m }
  - { name: hour, limit: 20000, per: 1h }
`
const INVALID = 'version: 1\npolicies:\n  - { name: api, limt: 100, per: 1m }\n'

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-check-'))
  for (const [name, text] of Object.entries({ VALID, HINT, WARNING, INVALID })) writeFileSync(at(`${name}.yaml`), text)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('sluice check', () => {
  test('accepts a file without mistakes', async () => {
    const text = '1 policy in 1 file: no problems found\n'
    expect(await sluice(['check', at('VALID.yaml')])).toEqual({ exitCode: 0, stdout: text, stderr: '' })
  })

  test('prints a finding on one line with its place, and exits with 1', async () => {
    const file = at('WARNING.yaml')
    const { exitCode, stdout, stderr } = await sluice(['check', file])
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      `${file}:4:26: warning: 'hour' never denies a request: 'api' applies to all its requests, and its limit of 100 ` +
        'requests per 1m is always reached first',
      '2 policies in 1 file: 1 warning',
      '',
    ])
  })

  test('prints the mistakes of an invalid file, and checks the other files', async () => {
    const file = at('INVALID.yaml')
    const { exitCode, stdout } = await sluice(['check', file, at('WARNING.yaml')])
    expect(exitCode).toBe(1)
    const [missing, unknown, ...others] = stdout.split('\n')
    expect(missing).toBe(`${file}:3:5: error: policies[0]: the field 'limit' is missing`)
    expect(unknown).toBe(`${file}:3:18: error: policies[0]: unknown field 'limt', did you mean 'limit'?`)
    expect(others).toEqual([
      expect.stringContaining(':4:26: warning: '),
      '2 policies in 2 files: 2 errors, 1 warning',
      '',
    ])
  })

  test('writes the same as JSON', async () => {
    const [valid, invalid] = [at('WARNING.yaml'), at('INVALID.yaml')]
    const { exitCode, stdout } = await sluice(['check', '--json', valid, invalid])
    expect(exitCode).toBe(1)
    expect(stdout.trimEnd()).not.toContain('\n')
    const never = {
      rule: 'never-binds',
      severity: 'warning',
      policy: 'hour',
      path: 'policies[1].limit',
      line: 4,
      column: 26,
    }
    const unknown = { rule: 'invalid', severity: 'error', path: 'policies[0]', line: 3, column: 18 }
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        { file: valid, policies: 2, findings: [never] },
        { file: invalid, policies: 0, findings: [{}, unknown] },
      ],
      ...{ errors: 2, warnings: 1, hints: 0 },
    })
  })

  test.each([
    ['HINT', 'error', 0],
    ['HINT', 'warning', 0],
    ['HINT', 'hint', 1],
    ['WARNING', 'error', 0],
    ['WARNING', 'warning', 1],
    ['INVALID', 'error', 1],
  ])('%s.yaml with --fail-on %s exits with %i', async (name, severity, exitCode) => {
    expect((await sluice(['check', '--fail-on', severity, at(`${name}.yaml`)])).exitCode).toBe(exitCode)
  })

  test('compares limits with the number of processes, and windows with the tick', async () => {
    const args = ['--processes', '101', '--sync-tick', '20000', at('VALID.yaml')]
    const { stdout } = await sluice(['check', ...args])
    expect(stdout).toContain('is below the number of processes (101)')
    expect(stdout).toContain('4 ticks of 20000 ms')
  })

  test('compares a file with the previous one', async () => {
    const { exitCode, stdout } = await sluice(['check', '--previous', at('VALID.yaml'), at('HINT.yaml')])
    expect(exitCode).toBe(0)
    expect(stdout).toContain("hint: per of 'api' changes from 1m to 100ms")
    const refused = await sluice(['check', '--previous', at('INVALID.yaml'), at('HINT.yaml')])
    expect(refused).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('--previous: expected a valid'),
    })
  })

  test('a file that cannot be read is a usage error', async () => {
    const { exitCode, stdout, stderr } = await sluice(['check', at('MISSING.yaml')])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^error: cannot read .*MISSING\.yaml: .*ENOENT/)
  })

  test('shows control characters of a file escaped', async () => {
    const file = at('hostile.yaml')
    writeFileSync(file, `${VALID}overrides:\n  - { policy: api, key: "\\e[31m\\u202e\\u009b", limit: 5 }\n`)
    const { stdout } = await sluice(['check', file])
    expect(stdout).toContain(String.raw`the key '\x1b[31m\u{202e}\x9b'`)
    expect(stdout).not.toMatch(/[^\P{C}\n]/u)
    const { stdout: json } = await sluice(['check', '--json', file])
    expect(json).not.toMatch(/[^\P{C}\n]/u)
    expect(JSON.parse(json).files[0].findings[0].message).toContain('\x1b[31m\u202e\u009b')
  })

  test.each([
    ['a terminal', { isTTY: true, env: {} }, true],
    ['a terminal with NO_COLOR', { isTTY: true, env: { NO_COLOR: '1' } }, false],
    ['a terminal without colours', { isTTY: true, env: { TERM: 'dumb' } }, false],
    ['a file', { isTTY: false, env: {} }, false],
    ['a file with FORCE_COLOR', { isTTY: false, env: { FORCE_COLOR: '1' } }, true],
  ])('on %s uses colours only if it shows them', async (_what, { isTTY, env }, hasColor) => {
    const stdout = new CapturedOutput()
    stdout.isTTY = isTTY
    await sluice(['check', at('WARNING.yaml')], { stdout, env })
    expect(stdout.text.includes('\x1b[')).toBe(hasColor)
  })
})
