import { expect, test } from '@jest/globals'
import { endOf, type Format } from '../services/processes/node-script.ts'

const FORMATS: readonly Format[] = ['cjs', 'esm']

test.each(FORMATS)('a limiter in memory loads no node:cluster, as %s', async (format) => {
  const { code, stdout } = await endOf(format, {
    modules: { core: '@sluice/limiter-core' },
    script: `core.createLimiter({ policies: [{ limit: 5, window: '1m' }] }).take('user')
    console.log(JSON.stringify(process.moduleLoadList.filter((name) => /cluster/.test(name))))`,
  })
  expect({ code, loaded: JSON.parse(stdout) }).toEqual({ code: 0, loaded: [] })
})
