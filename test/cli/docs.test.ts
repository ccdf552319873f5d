import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { EXIT } from '../../packages/cli/src/terminal/exit-code.ts'
import { root } from '../repository.ts'
import { sluice } from './run-sluice.ts'

const page = readFileSync(join(root, 'docs/cli.md'), 'utf8')
const policiesPage = readFileSync(join(root, 'packages/policies/src/check/policy-finding.ts'), 'utf8')

test('the output of check in the guide is its real output', async () => {
  const [, file, output] = /```yaml\n([\s\S]*?)```[\s\S]*?```text\n([\s\S]*?)```/.exec(page) as RegExpExecArray
  const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
  const path = join(folder, 'policies.yaml')
  writeFileSync(path, file)
  const { exitCode, stdout } = await sluice(['check', path])
  rmSync(folder, { recursive: true })
  expect(stdout.replaceAll(path, 'policies.yaml')).toBe(output)
  expect(exitCode).toBe(1)
})

test('the guide explains all exit codes and rules', () => {
  const codes = [...page.matchAll(/^\| (\d) \| /gm)].map(([, code]) => Number(code))
  expect(codes).toEqual(Object.values(EXIT))
  const shown = [...page.matchAll(/^\| `([a-z-]+)` \| (?:error|warning|hint)/gm)].map(([, rule]) => rule)
  const rules = [...policiesPage.matchAll(/^ {2}\| '([a-z-]+)'$/gm)].map(([, rule]) => rule)
  expect(shown.sort()).toEqual(['invalid', ...rules].sort())
})

test.each(['check', 'replay', 'diff', 'openapi', 'docs', 'watch', 'explain'])(
  'the guide explains all options of %s',
  async (name) => {
    const { stdout } = await sluice([name, '--help'])
    const options = [...stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option]) => option)
    expect(options.length).toBeGreaterThan(2)
    for (const option of options) expect(page).toMatch(new RegExp(`\\| \`${option}[ \`]`))
  },
)
