import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type Provider,
  UnauthorizedException,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import {
  byPrincipal,
  RateLimit,
  rateLimit,
  SluiceGuard,
  SluiceInterceptor,
  SluiceModule,
  type SluiceModuleOptions,
} from '@sluice/nest'
import { type AppOptions, platforms } from '../nest-app.ts'
import { onSite } from '../site.ts'

const ONE = { limit: 1, window: '1m', algorithm: 'fixed-window' } as const

@Controller()
class Home {
  @Get()
  home(): string {
    return 'home'
  }
}

@Injectable()
class Auth implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest()
    const user = request.headers.authorization
    if (!user) throw new UnauthorizedException()
    request.user = { id: user }
    return true
  }
}

function app(
  options: SluiceModuleOptions,
  controller: AppOptions['controllers'],
  providers: Provider[] = [],
): AppOptions {
  return { imports: [SluiceModule.forRoot(options)], controllers: controller ?? [], providers }
}

for (const platform of platforms) {
  describe(`guards of the application, Nest ${process.env.NEST} on ${platform}`, () => {
    const key = byPrincipal((req: { user?: { id: string } }) => req.user?.id)
    const as = (user: string): RequestInit => ({ headers: { authorization: user } })

    test('of the module that imports ours run first, so that keys can use the signed-in user', () =>
      onSite(
        platform,
        app({ rateLimit: { ...ONE, key } }, [Home], [{ provide: APP_GUARD, useClass: Auth }]),
        async ({ ask }) => {
          const asked = [
            await ask('/'),
            await ask('/', as('ann')),
            await ask('/', as('ann')),
            await ask('/', as('bob')),
          ]
          assert.deepEqual(
            asked.map(({ status }) => status),
            [401, 200, 429, 200],
          )
        },
      ))

    test('run before ours if ours is bound manually', async () => {
      @Controller()
      @UseGuards(Auth, SluiceGuard)
      @UseInterceptors(SluiceInterceptor)
      class ByHand extends Home {
        @Get('free')
        free(): string {
          return 'free'
        }
      }
      const imports = [SluiceModule.forRoot({ rateLimit: { ...ONE, key }, bind: false })]
      await onSite(platform, { imports, controllers: [ByHand] }, async ({ ask }) => {
        const asked = [
          await ask('/'),
          await ask('/', as('ann')),
          await ask('/free', as('ann')),
          await ask('/', as('bob')),
        ]
        assert.deepEqual(
          asked.map(({ status }) => status),
          [401, 200, 429, 200],
        )
        assert.equal(asked[2].headers.get('content-type'), 'application/problem+json')
      })
    })

    test('and ours, bound twice, count a request once without a warning', async () => {
      @Controller()
      @UseGuards(SluiceGuard)
      @UseInterceptors(SluiceInterceptor)
      class Both extends Home {}
      await onSite(
        platform,
        app({ rateLimit: { ...ONE, limit: 2 }, inflightLimit: { limit: 1 } }, [Both]),
        async ({ statuses }) => {
          assert.deepEqual(await statuses('/', '/', '/'), [200, 200, 429])
        },
      )
    })

    test('with their own limits are added to the limits of the module', async () => {
      @Controller()
      class Single {
        @Get()
        @RateLimit({ ...ONE, limit: 9 })
        @UseGuards(rateLimit({ ...ONE, name: 'single' }))
        home(): string {
          return 'home'
        }
      }
      await onSite(platform, app({}, [Single]), async ({ ask, statuses }) => {
        assert.match((await ask('/')).headers.get('ratelimit') ?? '', /"default";r=8.*"single";r=0/)
        assert.deepEqual(await statuses('/'), [429])
      })
    })
  })
}
