import { expect, test } from '@jest/globals'
import { env, keepsItsPromise, main, run } from './fleet-mode.ts'

test('the fleet keeps its limit while Redis is killed and restarted', () => keepsItsPromise('exact', 'redis'), 120_000)

test('the fleet rejects an unknown mode', async () => {
  await expect(run(process.execPath, [main, '--mode', 'none'], { env })).rejects.toThrow(
    '--mode: expected exact, leased, synced, received none',
  )
})
