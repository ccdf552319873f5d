import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { memoryFolder } from '../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../services/postgres/embedded-template.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'

let folder: string
let child: ChildNode<typeof import('./children/embedded.ts')>

beforeAll(() => {
  folder = memoryFolder('sluice-limits-')
  copyEmbeddedTemplate(folder)
  child = startNode('postgres/children/embedded.ts', { nodeArgs: EMBEDDED_ARGS })
})

afterAll(async () => {
  await child.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('postgresBackend on PGlite fulfils the backend contract', async () => {
  const claims = await child.call('contract', join(folder, 'pglite'))
  expect(claims.filter(([, failure]) => failure !== undefined)).toEqual([])
  expect(claims.length).toBeGreaterThanOrEqual(28)
})
