import { describe, test } from '@jest/globals'
import { bypassContract, type LimitedApp, type TestRunner } from '@sluice/testkit'
import express from 'express'
import Koa from 'koa'
import { express4 } from '../adapters/express/express4.ts'
import {
  anyMethodLogins,
  type Login,
  laterOverridingExpressLogin,
  mountedExpressLogin,
  overridingExpressLogin,
  overridingHonoLogin,
  overridingKoaLogin,
} from './login-apps.ts'
import { inTurns } from './suite-in-turns.ts'

const runner: TestRunner = { describe, test }
/** Registers the tests of the suite that concern the method. */
const onlyMethods: TestRunner = {
  describe,
  test: (name, body) => {
    if (/method|headers|rotation/.test(name)) test(name, body)
  },
}

const overriding: readonly (readonly [string, (login: Login) => Promise<LimitedApp>])[] = [
  ['Express 4, with method-override', (login) => overridingExpressLogin(express4, login)],
  ['Express 5, with method-override', (login) => overridingExpressLogin(express, login)],
  ['Koa, with a header that replaces the method', (login) => overridingKoaLogin(Koa, login)],
  ['Hono, with a header that replaces the method', overridingHonoLogin],
]

for (const [turn, counting] of (['client and route', 'policy of the method'] as const).entries()) {
  for (const [index, [name, start]] of overriding.entries()) {
    describe(`by ${counting}: ${name}`, () => {
      const login = { counting, method: 'POST', path: '/login' } as const
      bypassContract(inTurns(runner, index + turn, overriding.length), () => start(login), { method: 'DELETE' })
    })
  }
}

const anyMethod = Object.entries(anyMethodLogins)
for (const [index, [name, start]] of anyMethod.entries()) {
  describe(`a route of all methods of ${name}`, () => {
    const except = { preflight: 'preflights have a count of their own' }
    const login = { counting: 'client and route', method: 'POST', path: '/login' } as const
    bypassContract(inTurns(runner, index, anyMethod.length), () => start(login), { except })
  })
}

describe.each([
  ['Express 4', express4],
  ['Express 5', express],
])('%s, with method-override behind the limit', (_name, lib) => {
  const except = { preflight: 'preflights have a count of their own' }
  const login = { counting: 'client', method: 'POST', path: '/login' } as const
  bypassContract(onlyMethods, () => laterOverridingExpressLogin(lib, login), { except })
})

describe('a limit of Express in front of the router', () => {
  bypassContract(runner, () => mountedExpressLogin(express, { counting: 'client', method: 'POST', path: '/login' }))
})
