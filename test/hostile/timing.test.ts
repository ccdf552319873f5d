import { expect, test } from '@jest/globals'
import { childResult } from '../floods/child.ts'

test('median times of allowed, denied and unknown keys lie within 20 microseconds', async () => {
  const times = await childResult<Record<string, Record<string, number>>>('hostile/children/decision-times.ts')
  for (const [algorithm, medians] of Object.entries(times)) {
    const list = Object.values(medians)
    expect({ algorithm, medians, near: Math.max(...list) - Math.min(...list) < 20 }).toMatchObject({ near: true })
  }
})
