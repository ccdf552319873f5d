import { rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { memoryFolder } from '../../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../../services/postgres/embedded-template.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { DAY_MS, MINUTE_MS } from './hold-fleet.ts'

let folder: string
let children: ChildNode<typeof import('./children/embedded-holds.ts')>[]

beforeEach(() => {
  folder = memoryFolder('sluice-holds-')
  copyEmbeddedTemplate(folder)
  children = []
})

afterEach(async () => {
  for (const child of children) await child.stop()
  rmSync(folder, { recursive: true, force: true })
})

function start(): ChildNode<typeof import('./children/embedded-holds.ts')> {
  const child = startNode<typeof import('./children/embedded-holds.ts')>('quotas/holds/children/embedded-holds.ts', {
    nodeArgs: EMBEDDED_ARGS,
  })
  children.push(child)
  return child
}

test('an embedded ledger passes the suite of holds', async () => {
  const results = await start().call('suite', folder)
  expect(results.filter(([, failure]) => failure !== undefined)).toEqual([])
  expect(results.length).toBeGreaterThanOrEqual(15)
})

test('a folder whose process is killed keeps its holds no longer than their time', async () => {
  const holder = start()
  expect(await holder.call('hold', folder, DAY_MS)).toBe(90)
  // kills the process
  await holder.stop()
  const times = [1, 8 * MINUTE_MS - 1, 9 * MINUTE_MS].map((ms) => DAY_MS + ms)
  expect(await start().call('free', folder, times)).toEqual([0, 0, 90])
})
