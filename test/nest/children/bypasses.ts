import { describe, test } from 'node:test'
import { Controller, Get, Post } from '@nestjs/common'
import { byAll, byIp, byRoute, RateLimit, SluiceModule } from '@sluice/nest'
import { policies } from '@sluice/policies'
import { bypassContract, FakeClock } from '@sluice/testkit'
import { inTurns } from '../../bypass/suite-in-turns.ts'
import { TextSource } from '../../policies/text-source.ts'
import { type AppOptions, nestApp, platforms } from '../nest-app.ts'

const limit = { limit: 3, window: '1h' } as const

function decorated(): AppOptions {
  @Controller()
  class Logins {
    @Get('login')
    @RateLimit({ name: 'read', ...limit, key: byAll(byIp(), byRoute()) })
    read(): string {
      return 'read'
    }

    @Post('login')
    @RateLimit({ name: 'login', ...limit })
    login(): string {
      return 'welcome'
    }
  }
  return { imports: [SluiceModule.forRoot({ clock: new FakeClock() })], controllers: [Logins] }
}

function withFile(): AppOptions {
  @Controller()
  class Logins {
    @Get('login')
    read(): string {
      return 'read'
    }

    @Post('login')
    login(): string {
      return 'welcome'
    }
  }
  const policy = { key: 'address', limit: 3, per: '1h' }
  const text = JSON.stringify({
    version: 1,
    policies: [
      { name: 'read', ...policy, match: { method: 'GET' } },
      { name: 'login', ...policy, match: { route: 'POST /login' } },
    ],
  })
  const module = SluiceModule.forRoot({ clock: new FakeClock(), rateLimit: policies(new TextSource(text)) })
  return { imports: [module], controllers: [Logins] }
}

const suites = Object.entries({ decorators: decorated, 'a policy file': withFile }).flatMap(([name, build]) =>
  ['GET', 'POST'].map((method) => ({ name, build, method })),
)

for (const [turn, platform] of platforms.entries()) {
  for (const [index, { name, build, method }] of suites.entries()) {
    describe(`Nest ${process.env.NEST} on ${platform}: ${method} with ${name}`, () => {
      const runner = inTurns({ describe, test }, index + turn, suites.length)
      bypassContract(runner, () => nestApp(platform, build()), { method })
    })
  }
}
