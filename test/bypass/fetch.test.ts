import { describe, test } from '@jest/globals'
import { bypassContract } from '@sluice/testkit'
import { fetchLogin, honoLogin, mountedHonoLogin } from './login-apps.ts'
import { runBypasses } from './run-bypasses.ts'

runBypasses({
  Hono: (login) => honoLogin(true, login),
  'Hono, not strict': (login) => honoLogin(false, login),
  'Hono, in front of all routes': mountedHonoLogin,
})

describe.each(['GET', 'POST'] as const)('fetch: %s', (method) => {
  const login = { counting: 'policy of the method', method, path: '/login' } as const
  bypassContract({ describe, test }, () => fetchLogin(login), { method })
})
