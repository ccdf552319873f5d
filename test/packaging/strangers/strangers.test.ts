import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { mustRun } from '../command.ts'
import { outputOfJest } from './jest-run.ts'
import { StrangerWorkspace } from './stranger-workspace.ts'
import { compilers, errorsWith, writeEntries } from './typescript-settings.ts'

jest.setTimeout(400_000)

let workspace: StrangerWorkspace

beforeAll(async () => {
  workspace = await StrangerWorkspace.install()
  writeEntries(workspace.app, await workspace.entries())
}, 400_000)

afterAll(() => workspace?.[Symbol.dispose]())

test('everything that an entry point exports or returns has a name in the declarations of its user', async () => {
  const args = [join(import.meta.dirname, 'declarations.mjs'), workspace.projects, compilers['TypeScript 5.9']]
  const { exported, errors } = JSON.parse(await mustRun(process.execPath, args, workspace.folder, 300_000))
  process.stdout.write(`${exported} exports with declarations\n`)
  expect(errors).toEqual([])
  expect(exported).toBeGreaterThan(4_000)
})

test.each(['TypeScript 5.4', 'TypeScript 5.9'] as const)(
  '%s finds all types with the template of Nest',
  async (compiler) => {
    expect(await errorsWith({ compiler, module: 'commonjs', moduleResolution: undefined }, workspace.app)).toEqual([])
  },
)

test.each(['node', 'jsdom'] as const)(
  'jest loads all entry points in %s, and reports nothing open',
  async (environment) => {
    const output = await outputOfJest({ version: 30, environment, isEsm: false }, workspace.app)
    expect(output).toMatch(/exit code 0$/)
    expect(output).not.toContain('open handle')
  },
)
