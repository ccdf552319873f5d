import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { startNode } from '../services/child-node.ts'

test('an embedded ledger passes the suite of quotas', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-quotas-'))
  const child = startNode<typeof import('./children/embedded-suite.ts')>('quotas/children/embedded-suite.ts')
  try {
    const results = await child.call('suite', folder)
    expect(results.filter(([, failure]) => failure !== undefined)).toEqual([])
    expect(results.length).toBeGreaterThanOrEqual(10)
  } finally {
    await child.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
