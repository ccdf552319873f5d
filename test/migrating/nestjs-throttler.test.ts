import 'reflect-metadata'
import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { Controller, Get, Module } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { createLimiter } from '@sluice/limiter-core'
import { byAll, byIp, byRoute, SluiceModule } from '@sluice/nest'
import { eachSeed } from '@sluice/testkit'
import { type App, askBoth, fakeClocks, isMixed, type Seen } from './same-responses.ts'

interface Counted {
  readonly isBlocked: boolean
  readonly totalHits: number
  readonly timeToBlockExpire: number
}

const { ThrottlerGuard, ThrottlerModule, ThrottlerStorageService } = createRequire(import.meta.url)('@nestjs/throttler')
const policy = { limit: 5, window: '1m', algorithm: 'sliding-log' } as const

/** The throttler's memory storage, called like its guard does: seconds to wait, or 0 if the request passes. */
function throttler(blockMs: number): {
  ask(key: string): Promise<readonly [left: number, waitS: number]>
  close(): void
} {
  const storage = new ThrottlerStorageService()
  return {
    ask: async (key) => {
      const counted: Counted = await storage.increment(key, 60_000, 5, blockMs, 'default')
      return [Math.max(0, 5 - counted.totalHits), counted.isBlocked ? counted.timeToBlockExpire : 0]
    },
    close: () => storage.onApplicationShutdown(),
  }
}

const open = new Set<() => Promise<void>>()

/** An application with one limited route; decorated by hand because tests are compiled with other decorators. */
async function appBehind(limits: object): Promise<App> {
  class Site {
    home(): string {
      return 'hello'
    }
  }
  Controller()(Site)
  Get()(Site.prototype, 'home', Object.getOwnPropertyDescriptor(Site.prototype, 'home') as PropertyDescriptor)
  class AppModule {}
  Module({ controllers: [Site], ...limits })(AppModule)
  const app = await NestFactory.create(AppModule, { logger: false })
  open.add(() => app.close())
  await app.init()
  return app.getHttpServer()
}

const numbers = (seen: readonly Seen[]) =>
  seen.map(({ status, headers }) => [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']])
const waits = (seen: readonly Seen[]) => seen.map(({ headers }) => headers['retry-after'])

beforeEach(fakeClocks)
afterEach(async () => {
  for (const close of open) await close()
  open.clear()
  jest.useRealTimers()
})

test('without a block duration, the throttler in memory behaves like a sliding log, request by request', async () => {
  await eachSeed(5, async (random) => {
    const theirs = throttler(0)
    const ours = createLimiter({ policies: [policy] })
    let denied = 0
    for (let asked = 0; asked < 200; asked++) {
      const user = `user ${random.whole(2)}`
      const was = await theirs.ask(user)
      const { binding, retryAfterMs } = ours.take(user)
      expect([binding.remaining, Math.ceil(retryAfterMs / 1_000)]).toEqual(was)
      if (retryAfterMs > 0) denied++
      jest.advanceTimersByTime(random.whole(10_000))
    }
    theirs.close()
    expect(denied).toBeGreaterThan(0)
  })
})

test('by default, the throttler blocks a client that exceeds its limit late for another window; Sluice does not', async () => {
  const theirs = throttler(60_000)
  const ours = createLimiter({ policies: [policy] })
  for (let asked = 0; asked < 5; asked++) {
    await theirs.ask('anna')
    ours.take('anna')
  }
  jest.advanceTimersByTime(50_000)
  expect((await theirs.ask('anna'))[1]).toBe(60)
  expect(ours.take('anna').retryAfterMs).toBe(10_000)
  theirs.close()
})

test('an application gives the same responses: statuses, remaining units and waits', async () => {
  await eachSeed(2, async (random) => {
    const theirs = { limit: 5, ttl: 60_000, blockDuration: 0 }
    const before = await appBehind({
      imports: [ThrottlerModule.forRoot([theirs])],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })
    const ours = { ...policy, headers: 'legacy', legacy: { reset: 'delta' } } as const
    const rateLimit = { ...ours, key: byAll(byIp(), byRoute()) }
    const after = await appBehind({ imports: [SluiceModule.forRoot({ rateLimit })] })
    const [was, is] = await askBoth([before, after], random, { asks: 40, longestGapMs: 12_000 })
    expect(waits(is)).toEqual(waits(was))
    expect(isMixed(is)).toBe(true)
    // on a denial the throttler sends only the time to retry
    const passed = (seen: readonly Seen[]) => numbers(seen.filter(({ status }) => status === 200))
    expect(passed(is)).toEqual(passed(was))
    expect(is.map(({ status }) => status)).toEqual(was.map(({ status }) => status))
  })
})
