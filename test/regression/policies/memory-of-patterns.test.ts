import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { PolicyMatcher, parsePolicies } from '@sluice/policies'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

test('patterns of replaced documents are forgotten', async () => {
  const load = (version: number): PolicyMatcher => {
    const when = `request.headers['x-a'].matches('^a{1,900}b${version}$')`
    return new PolicyMatcher(
      parsePolicies(`version: 1\npolicies: [{ name: a, limit: 1, per: 1m, when: "${when}" }]`, 'policies.yaml'),
    )
  }
  let current = load(0)
  const bytes = await heapBytes()
  // each pattern needs about 600 KB
  for (let version = 1; version <= 200; version++) current = load(version)
  expect((await heapBytes()) - bytes).toBeLessThan(20e6)
  const names = current.match((name) => (name === 'header:x-a' ? 'aab200' : undefined)).map((one) => one?.policy.name)
  expect(names).toEqual(['a'])
})

async function heapBytes(): Promise<number> {
  // references that are weak are cleared at the end of a turn of the event loop
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(setImmediate)
    collect()
  }
  return process.memoryUsage().heapUsed
}
