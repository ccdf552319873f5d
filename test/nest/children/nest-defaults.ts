import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Controller, Get, type INestApplication } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { SluiceModule, type SluiceModuleOptions } from '@sluice/nest'
import { FakeClock, until } from '@sluice/testkit'
import { moduleOf, platforms } from '../nest-app.ts'

@Controller()
class Home {
  @Get()
  home(): string {
    return 'home'
  }
}

for (const platform of platforms) {
  /** Lets connections finish on close, and identifies modules by their metadata. */
  const served = async (said: readonly SluiceModuleOptions[]): Promise<[INestApplication, () => Promise<number>]> => {
    const options = { moduleIdGeneratorAlgorithm: 'deep-hash', logger: false, abortOnError: false } as const
    const imports = said.map((one) => SluiceModule.forRoot(one))
    const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter()
    const app = await NestFactory.create(moduleOf({ imports, controllers: [Home] }), adapter, options)
    await app.listen(0, '127.0.0.1')
    const url = `http://127.0.0.1:${app.getHttpServer().address().port}/`
    return [app, async () => (await fetch(url, { headers: { connection: 'close' } })).status]
  }

  describe(`SluiceModule, Nest ${process.env.NEST} on ${platform} with the defaults of Nest,`, () => {
    test('is distinguished from a second import with identical options', async () => {
      const [app, ask] = await served([5, 1].map((limit) => ({ rateLimit: { limit, window: '1m' } })))
      try {
        assert.deepEqual([await ask(), await ask()], [200, 429])
      } finally {
        await app.close()
      }
    })

    test('ends all waits when the application closes', async () => {
      const clock = new FakeClock()
      const slowDown = { after: 0, window: '1m', delayMs: '1s', maxDelayMs: '1s' } as const
      const [app, ask] = await served([{ slowDown, clock }])
      const asked = ask()
      await until(() => clock.pending > 0)
      await app.close()
      assert.equal(await asked, 200)
    })
  })
}
