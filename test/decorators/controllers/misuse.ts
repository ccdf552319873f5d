import { InflightLimit, RateLimit, SlowDown } from '@sluice/express'

/** Untyped, so that tests can make the mistakes that JavaScript allows. */
type Untyped = (value: unknown, context?: unknown, descriptor?: unknown) => never
const untyped = (decorator: unknown): Untyped => decorator as Untyped
const limited = (options: unknown = { limit: 1, window: '1m' }): Untyped =>
  untyped((RateLimit as unknown as (options: unknown) => unknown)(options))

/** Functions that each define a class with a decorator in an unsupported place. */
export const misuses = {
  'a getter': () => {
    class Users {
      @limited()
      get list(): string {
        return ''
      }
    }
    return Users
  },
  'a setter': () => {
    class Users {
      @limited()
      set list(_value: string) {}
    }
    return Users
  },
  'an accessor': () => {
    class Users {
      @limited()
      accessor list = (): void => {}
    }
    return Users
  },
  'a class': () => {
    @limited()
    class Users {}
    return Users
  },
  'a field without a handler': () => {
    class Users {
      @limited()
      list = 3
    }
    return Users
  },
  'an error handler': () => {
    class Users {
      @limited()
      failed(_error: unknown, _req: unknown, _res: unknown, _next: unknown): void {}
    }
    return Users
  },
  'a method, without options': () => {
    class Users {
      @untyped(RateLimit)
      list(): void {}
    }
    return Users
  },
  'a static method, without options': () => {
    class Users {
      readonly name = 'Users'

      @untyped(InflightLimit)
      static list(): void {}
    }
    return Users
  },
  'a class, without options': () => {
    @untyped(SlowDown)
    class Users {}
    return Users
  },
  'undefined options': () => {
    class Users {
      @untyped((RateLimit as unknown as () => unknown)())
      list(): void {}
    }
    return Users
  },
  'a handler for options': () => {
    class Users {
      @limited(() => undefined)
      list(): void {}
    }
    return Users
  },
  'an unknown option': () => {
    class Users {
      @limited({ limit: 1, windowMs: 1_000 })
      list(): void {}
    }
    return Users
  },
} satisfies Record<string, () => new () => object>

/** Standard decorators can wrap the value of a field; legacy decorators do not receive it. */
export function handlerField(): new () => object {
  class Users {
    @limited()
    list = (_req: unknown, _res: unknown): void => {}
  }
  return Users
}
