import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { memoryFolder } from '../../services/memory-folder.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { newerNodeBinary } from '../../services/sqlite-node-binary.ts'
import { agentsSdkScenarios } from './agents-sdk-scenarios.ts'
import { aiSdkScenarios } from './ai-sdk-scenarios.ts'

/** The newest major versions, which need Node 22. The repository depends on the newest ones for Node 20. */
const NEWEST = {
  ai: '7.0.173',
  '@ai-sdk/openai-compatible': '3.0.92',
  '@openai/agents-core': '0.20.0',
  '@openai/agents-openai': '0.20.0',
  openai: '7.59.0',
}
const LIMIT_MS = 5 * 60_000

const folder = memoryFolder('sluice-newest-sdks-')
let child: ChildNode<typeof import('../children/sdk-scenarios.ts')>

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: NEWEST }))
  execFileSync('npm', ['install', '--no-package-lock'], { cwd: folder, timeout: LIMIT_MS, stdio: 'pipe' })
  const env = { PACKAGES: folder, NODE_NO_WARNINGS: '1' }
  child = startNode('budgets/children/sdk-scenarios.ts', { execPath: newerNodeBinary(22), env })
}, 2 * LIMIT_MS)

afterAll(async () => {
  await child?.stop()
  rmSync(folder, { recursive: true, force: true })
})

test.each(Object.entries(NEWEST))('the scenarios use %s %s', async (sdk, version) => {
  expect(await child.call('versionOf', sdk)).toBe(version)
})

test.each([...aiSdkScenarios, ...agentsSdkScenarios])('with the newest SDKs, $name', async ({ name }) => {
  expect(await child.call('failureOf', name)).toBe('')
})
