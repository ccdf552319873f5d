import { rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { memoryFolder } from '../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../services/postgres/embedded-template.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'

let folder: string
let child: ChildNode<typeof import('./children/embedded-suite.ts')>

beforeEach(() => {
  folder = memoryFolder('sluice-quotas-')
  copyEmbeddedTemplate(folder)
  child = startNode('quotas/children/embedded-suite.ts', { nodeArgs: EMBEDDED_ARGS })
})

afterEach(async () => {
  await child.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('an embedded ledger passes the suite of quotas', async () => {
  const results = await child.call('suite', folder)
  expect(results.filter(([, failure]) => failure !== undefined)).toEqual([])
  expect(results.length).toBeGreaterThanOrEqual(10)
})

test('an embedded ledger passes the suite of zones', async () => {
  const results = await child.call('zones', folder)
  expect(results.filter(([, failure]) => failure !== undefined)).toEqual([])
  expect(results.length).toBeGreaterThanOrEqual(10)
})

test('the leases of a process that is gone are charged when its folder is opened again', async () => {
  const { used, stranded, onLease, left } = await child.call('balanceAfterCrash', folder, 3_000, 100)
  expect(onLease).toBe(0)
  expect(used + stranded).toBeGreaterThanOrEqual(100)
  expect(used + stranded).toBeLessThanOrEqual(100 + 60)
  expect(used + stranded + left).toBe(3_000)
})
