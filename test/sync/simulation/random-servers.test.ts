import { expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { RandomServers } from './random-servers.ts'

test('whatever happens to the servers, keys of healthy servers are counted, and no unit is lost or duplicated', async () => {
  await eachSeed(40, async (random) => {
    const servers = new RandomServers(random)
    expect({ wrongs: await servers.live(), of: servers.life }).toEqual({ wrongs: [], of: servers.life })
  })
})
