import { describe, test } from 'node:test'
import { Controller, Get, Post } from '@nestjs/common'
import { byAll, byIp, byRoute, RateLimit, SluiceModule } from '@sluice/nest'
import { policies } from '@sluice/policies'
import { bypassContract, FakeClock } from '@sluice/testkit'
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

for (const platform of platforms) {
  for (const [name, build] of Object.entries({ decorators: decorated, 'a policy file': withFile })) {
    for (const method of ['GET', 'POST']) {
      describe(`Nest ${process.env.NEST} on ${platform}: ${method} with ${name}`, () => {
        bypassContract({ describe, test }, () => nestApp(platform, build()), { method })
      })
    }
  }
}
