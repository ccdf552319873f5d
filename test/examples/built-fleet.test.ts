import { expect, test } from '@jest/globals'
import { env, keepsItsPromise, main, run } from './fleet-mode.ts'

test('the fleet keeps its limit while Redis is killed and begins anew', () => keepsItsPromise('exact', 'redis'), 90_000)

test('the fleet refuses a mode that it does not have', async () => {
  await expect(run(process.execPath, [main, '--mode', 'none'], { env })).rejects.toThrow(
    '--mode: expected exact, leased, synced, received none',
  )
})
