import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { mustRun } from './command.ts'

test('our packages and every framework that they are tried with load from the root', async () => {
  // as text and not as a path: `require` then searches from the folder that Node was started in
  const script = readFileSync(join(root, 'test/packaging/root-requires.cjs'), 'utf8')
  const loaded = JSON.parse(await mustRun(process.execPath, ['-e', script], root))
  expect(loaded).toEqual([
    ...['@sluice/express', '@sluice/fastify', '@sluice/koa', '@sluice/nest', '@sluice/node-http', '@sluice/redis'],
    ...['express', 'express4', 'fastify', 'fastify4', 'ioredis', 'ioredis5', 'koa', 'koa2'],
  ])
})
