import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type ArgumentsHost,
  type CallHandler,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpException,
  type NestInterceptor,
  type Provider,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common'
import { APP_FILTER } from '@nestjs/core'
import { inflightLimit, SluiceDenied, SluiceModule, type SluiceModuleOptions } from '@sluice/nest'
import { FakeClock } from '@sluice/testkit'
import { catchError, throwError } from 'rxjs'
import { type AppOptions, platforms } from '../nest-app.ts'
import { onSite } from '../site.ts'

/** Fields of the body of a denial. */
interface Problem {
  readonly 'violated-policies': readonly string[]
}

const ONE = { limit: 1, window: '1m', algorithm: 'fixed-window' } as const
const PROBLEM =
  '{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota Exceeded",' +
  '"status":429,"violated-policies":["default"]}'

/** Formats every caught exception in a custom style. */
class House implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const status = exception instanceof HttpException ? exception.getStatus() : 500
    const body = exception instanceof HttpException ? exception.getResponse() : String(exception)
    host.switchToHttp().getResponse().status(status).send({ house: true, body })
  }
}

@Catch()
class EverythingFilter extends House {}

@Catch(SluiceDenied)
class DeniedFilter extends House {}

@Controller()
class Home {
  @Get()
  home(): string {
    return 'home'
  }
}

@Controller()
@UseFilters(DeniedFilter)
class Filtered extends Home {}

const seen: unknown[] = []

class Outer implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(
      catchError((error) => {
        seen.push(error)
        return throwError(() => error)
      }),
    )
  }
}

@Controller()
class Capped {
  @Get()
  @UseInterceptors(Outer, inflightLimit({ name: 'full', limit: 1, weight: () => 2, status: 429 }))
  home(): string {
    return 'home'
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
  describe(`a denial, Nest ${process.env.NEST} on ${platform}`, () => {
    test('is our problem document unless a filter of the application catches it', () =>
      onSite(platform, app({ rateLimit: ONE, clock: new FakeClock() }, [Home]), async ({ ask }) => {
        await ask('/')
        const denied = await ask('/')
        assert.equal(denied.status, 429)
        assert.equal(await denied.text(), PROBLEM)
        assert.equal(denied.headers.get('content-type'), 'application/problem+json')
        assert.equal(denied.headers.get('etag'), null)
      }))

    for (const [where, options] of Object.entries({
      'a filter of the class': app({ rateLimit: ONE }, [Filtered]),
      'a filter provided for all exceptions': app(
        { rateLimit: ONE },
        [Home],
        [{ provide: APP_FILTER, useClass: EverythingFilter }],
      ),
      'a global filter for all exceptions': {
        ...app({ rateLimit: ONE }, [Home]),
        prepare: (one) => one.useGlobalFilters(new EverythingFilter()),
      },
    } satisfies Record<string, AppOptions>)) {
      test(`is answered by ${where}, with its status, its problem and its headers`, () =>
        onSite(platform, options, async ({ ask }) => {
          await ask('/')
          const denied = await ask('/')
          assert.equal(denied.status, 429)
          assert.deepEqual(await denied.json(), { house: true, body: JSON.parse(PROBLEM) })
          assert.match(denied.headers.get('retry-after') ?? '', /^(59|60)$/)
          assert.match(denied.headers.get('ratelimit') ?? '', /^"default";r=0;t=(59|60)$/)
          assert.equal(denied.headers.get('cache-control'), 'no-store')
        }))
    }

    test('of a cap is seen by interceptors around it', () =>
      onSite(platform, app({}, [Capped]), async ({ ask }) => {
        seen.length = 0
        const denied = await ask('/')
        assert.equal(denied.status, 429)
        assert.deepEqual(((await denied.json()) as Problem)['violated-policies'], ['full'])
        const [error] = seen as SluiceDenied[]
        assert.ok(error instanceof SluiceDenied)
        assert.deepEqual([error.message, error.code, error.decision], ['denied by full', 'SLUICE_DENIED', undefined])
      }))

    test('is answered by the custom response of the limit', () => {
      const denied = (
        _req: unknown,
        res: { send(body: string): unknown },
        { denial }: { denial: { status: number } },
      ) => res.send(`own ${denial.status}`)
      return onSite(platform, app({ rateLimit: { ...ONE, denied } }, [Home]), async ({ ask }) => {
        await ask('/')
        const own = await ask('/')
        assert.deepEqual([own.status, await own.text()], [429, 'own 429'])
        assert.match(own.headers.get('retry-after') ?? '', /^(59|60)$/)
      })
    })
  })
}
