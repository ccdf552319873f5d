import { describe, test } from '@jest/globals'
import { bypassContract, type TestRunner } from '@sluice/testkit'
import express from 'express'
import Koa from 'koa'
import { express4 } from '../adapters/express/express4.ts'
import {
  anyMethodLogins,
  laterOverridingExpressLogin,
  mountedExpressLogin,
  overridingExpressLogin,
  overridingHonoLogin,
  overridingKoaLogin,
} from './login-apps.ts'

const runner = { describe, test }
/** Registers the tests of the suite that concern the method. */
const onlyMethods: TestRunner = {
  describe,
  test: (name, body) => {
    if (/method|headers|rotation/.test(name)) test(name, body)
  },
}

describe.each(['client and route', 'policy of the method'] as const)('by %s', (counting) => {
  const login = { counting, method: 'POST', path: '/login' } as const
  const deleting = { method: 'DELETE' }
  describe('Express 4, with method-override', () =>
    bypassContract(runner, () => overridingExpressLogin(express4, login), deleting))
  describe('Express 5, with method-override', () =>
    bypassContract(runner, () => overridingExpressLogin(express, login), deleting))
  describe('Koa, with a header that replaces the method', () =>
    bypassContract(runner, () => overridingKoaLogin(Koa, login), deleting))
  describe('Hono, with a header that replaces the method', () =>
    bypassContract(runner, () => overridingHonoLogin(login), deleting))
})

describe.each(Object.entries(anyMethodLogins))('a route of all methods of %s', (_name, start) => {
  const except = { preflight: 'preflights have a count of their own' }
  bypassContract(runner, () => start({ counting: 'client and route', method: 'POST', path: '/login' }), { except })
})

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
