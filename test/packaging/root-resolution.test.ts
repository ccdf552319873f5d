import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { mustRun } from './command.ts'

test('our packages and every framework under test load from the root', async () => {
  // evaluated as text instead of a file, so that `require` searches from the working directory
  const script = readFileSync(join(root, 'test/packaging/root-requires.cjs'), 'utf8')
  const loaded = JSON.parse(await mustRun(process.execPath, ['-e', script], root))
  expect(loaded).toEqual([
    ...['@sluice/express', '@sluice/fastify', '@sluice/koa', '@sluice/nest', '@sluice/node-http', '@sluice/redis'],
    ...['express', 'express4', 'fastify', 'fastify4', 'ioredis', 'ioredis5', 'koa', 'koa2'],
  ])
})
