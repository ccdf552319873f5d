import { describe, expect, test } from '@jest/globals'
import { complaintsOf, writeNestBlocks } from '../docs/testing-nest-blocks.ts'
import { redisForTests } from '../services/redis/redis-for-tests.ts'

const redis = redisForTests()

describe.each(['packages/nest/README.md', 'docs/frameworks/nest.md'])('%s', (page) => {
  test('has applications that start and stop', async () => {
    const { files } = await writeNestBlocks(page)
    expect(files.length).toBeGreaterThan(0)
    const args = ['--conditions=@sluice/source', 'test/docs/run-block.mjs', ...files]
    expect(await complaintsOf(args, { REDIS_PORT: String(redis.server.port) })).toBe('')
  }, 120_000)
})
