import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { outputOfJest } from './jest-run.ts'
import { StrangerWorkspace } from './stranger-workspace.ts'
import { errorsWith, errorsWithoutPeers, writeEntries } from './typescript-settings.ts'

jest.setTimeout(400_000)

let workspace: StrangerWorkspace

beforeAll(async () => {
  workspace = await StrangerWorkspace.install()
  writeEntries(workspace.app, await workspace.entries())
}, 400_000)

afterAll(() => workspace?.[Symbol.dispose]())

// strangers.long.ts has all compilers and settings, all versions and environments of jest, and declarations of users
test('TypeScript 5.4 finds all types with the template of Nest', async () => {
  const setting = { compiler: 'TypeScript 5.4', module: 'commonjs', moduleResolution: undefined } as const
  expect(await errorsWith(setting, workspace.app)).toEqual([])
})

test('every entry point compiles without optional peers, also with skipLibCheck: false', async () => {
  expect(await errorsWithoutPeers(workspace)).toEqual([])
})

test('jest loads all entry points in jsdom, and reports nothing open', async () => {
  const output = await outputOfJest({ version: 30, environment: 'jsdom', isEsm: false }, workspace.app)
  expect(output).toMatch(/exit code 0$/)
  expect(output).not.toContain('open handle')
})
