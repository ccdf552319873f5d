import { describe, test } from '@jest/globals'
import { bypassContract } from '@sluice/testkit'
import { nodeLogin } from './login-apps.ts'

describe.each(['GET', 'POST'] as const)('%s', (method) => {
  const login = { counting: 'policy of the method', method, path: '/login' } as const
  describe('node:http', () => bypassContract({ describe, test }, () => nodeLogin(login), { method }))
  describe('HTTP/2', () => bypassContract({ describe, test }, () => nodeLogin(login, true), { method, http2: true }))
})
