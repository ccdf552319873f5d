import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { readManifest, root } from '../repository.ts'
import { CapturedOutput, sluice } from './run-sluice.ts'

const { version } = readManifest(join(root, 'packages/cli'))
const COMMANDS = ['check', 'replay', 'diff', 'watch', 'explain', 'openapi', 'docs']

describe('sluice', () => {
  test('prints the version of its package', async () => {
    for (const option of ['--version', '-V']) {
      expect(await sluice([option])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
    }
  })

  test('prints the commands and the exit codes as help', async () => {
    const { exitCode, stdout, stderr } = await sluice(['--help'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    expect(stdout).toMatch(
      /Exit codes:\n {2}0 {2}no problems\n {2}1 {2}'check' and 'openapi --check' found problems, or/,
    )
    expect(stdout).not.toMatch(/[^\x20-\x7e\n]/)
  })

  test.each(COMMANDS)('prints the options and an example of %s', async (name) => {
    const [direct, viaHelp] = await Promise.all([sluice([name, '--help']), sluice(['help', name])])
    expect(direct).toEqual(viaHelp)
    expect(direct).toMatchObject({ exitCode: 0, stderr: '' })
    expect(direct.stdout).toMatch(new RegExp(`^Usage: sluice ${name} \\[options\\][ \n]`))
    expect(direct.stdout).toContain(`  sluice ${name} `)
  })

  test('without a command prints the help to standard error', async () => {
    const { exitCode, stdout, stderr } = await sluice([])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: sluice /)
  })

  test.each([
    ['an unknown command', ['chekc', 'a.yaml'], /^error: unknown command 'chekc'\n\(Did you mean check\?\)/],
    [
      'an unknown option',
      ['check', '--procesess', '3', 'a.yaml'],
      /^error: unknown option '--procesess'\n\(Did you mean --processes\?\)/,
    ],
    [
      'an unknown option of the program',
      ['--verson'],
      /^error: unknown option '--verson'\n\(Did you mean --version\?\)/,
    ],
    ['a missing argument', ['explain', 'http://localhost:1/'], /^error: missing required argument 'key'/],
    ['an argument too many', ['watch', 'http://localhost:1/', 'more'], /^error: too many arguments for 'watch'/],
    [
      'a text instead of a number',
      ['check', '--processes', 'x', 'a.yaml'],
      /--processes <count>.* argument 'x' is invalid\. Expected an integer from 1\./,
    ],
    ['a missing policy file', ['replay', 'access.log'], /required option '--policies <file>' not specified/],
    [
      'an attribute without a field',
      ['diff', 'a.yaml', 'b.yaml', '--log', 'x.log', '--attribute', 'principal'],
      /Expected name=field, such as principal=user\.id\./,
    ],
    ['a number out of range', ['check', '--sync-tick', '5', 'a.yaml'], /Expected an integer from 100 to 60000\./],
    ['an unknown severity', ['check', '--fail-on', 'all', 'a.yaml'], /Allowed choices are error, warning, hint\./],
  ])('refuses %s with exit code 2, and writes only to standard error', async (_what, args, message) => {
    const { exitCode, stdout, stderr } = await sluice(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr).toContain("Run 'sluice --help'")
  })

  test.each(COMMANDS)('fits the help of %s to the width of the terminal', async (name) => {
    const stdout = new CapturedOutput()
    stdout.columns = 80
    await sluice([name, '--help'], { stdout })
    expect(stdout.lines.length).toBeGreaterThan(10)
    expect(stdout.lines.filter((line) => line.length > 80)).toEqual([])
  })
})

test('the start file begins with the line that makes it a command', () => {
  expect(readFileSync(join(root, 'packages/cli/src/bin.ts'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
})
