import { describe, test } from '@jest/globals'
import { bypassContract } from '@sluice/testkit'
import { nodeLogin } from './login-apps.ts'
import { inTurns } from './suite-in-turns.ts'

const methods = ['GET', 'POST'] as const
const runner = { describe, test }

for (const [turn, method] of methods.entries()) {
  const login = { counting: 'policy of the method', method, path: '/login' } as const
  describe(`node:http: ${method}`, () => {
    bypassContract(inTurns(runner, turn, methods.length), () => nodeLogin(login), { method })
  })
  describe(`HTTP/2: ${method}`, () => {
    const onHttp2 = { method, http2: true }
    bypassContract(inTurns(runner, turn + 1, methods.length), () => nodeLogin(login, true), onHttp2)
  })
}
