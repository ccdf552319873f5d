import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { mustRun } from '../command.ts'
import { jestRuns, outputOfJest } from './jest-run.ts'
import { StrangerWorkspace } from './stranger-workspace.ts'
import { compilerNames, compilers, errorsWith, settings, writeEntries } from './typescript-settings.ts'
import { YarnProject } from './yarn-project.ts'

jest.setTimeout(400_000)

let workspace: StrangerWorkspace

beforeAll(async () => {
  workspace = await StrangerWorkspace.install()
  writeEntries(workspace.app, await workspace.entries())
}, 400_000)

afterAll(() => workspace?.[Symbol.dispose]())

// of each compiler: the number of settings with which it finds packages
const usable = new Map<string, number>()

test.each(settings)('$compiler finds all types with module $module and $moduleResolution', async (setting) => {
  const errors = await errorsWith(setting, workspace.app)
  if (errors) usable.set(setting.compiler, (usable.get(setting.compiler) ?? 0) + 1)
  expect(errors ?? []).toEqual([])
})

test('most settings are usable', () => {
  process.stdout.write(`${JSON.stringify(Object.fromEntries(usable))} of ${settings.length} settings find packages\n`)
  for (const compiler of compilerNames) expect(usable.get(compiler)).toBeGreaterThan(10)
})

test.each(jestRuns)('Jest $version in $environment with ES modules: $isEsm reports nothing open', async (how) => {
  const output = await outputOfJest(how, workspace.app)
  expect(output).toMatch(/exit code 0$/)
  expect(output).not.toContain('open handle')
})

// TypeScript 5.4 names no type of another package in the folders of pnpm
test('TypeScript 5.9 names everything that an entry point exports or returns in the declarations of its user', async () => {
  const args = [join(import.meta.dirname, 'declarations.mjs'), workspace.projects, compilers['TypeScript 5.9']]
  const { exported, errors } = JSON.parse(await mustRun(process.execPath, args, workspace.folder, 300_000))
  process.stdout.write(`${exported} exports with declarations\n`)
  expect(errors).toEqual([])
  expect(exported).toBeGreaterThan(4_000)
})

test('every entry point loads with Plug and Play of Yarn, by import and by require', async () => {
  using project = await YarnProject.install(workspace)
  const entries = JSON.stringify(await workspace.entries())
  writeFileSync(
    join(project.folder, 'load.cjs'),
    `Promise.all(${entries}.map(async (entry) => {
      const names = [Object.keys(require(entry)), Object.keys(await import(entry))]
      if (names.some((one) => one.length === 0)) throw new Error(entry)
    })).then(() => console.log('loaded'))`,
  )
  expect(await project.node('load.cjs')).toBe('loaded\n')
})
