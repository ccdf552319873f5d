import { describe, test } from '@jest/globals'
import { bypassContract } from '@sluice/testkit'
import express from 'express'
import Koa from 'koa'
import { express4 } from '../adapters/express/express4.ts'
import {
  anyMethodLogins,
  mountedExpressLogin,
  overridingExpressLogin,
  overridingHonoLogin,
  overridingKoaLogin,
} from './login-apps.ts'

const runner = { describe, test }

describe.each(['client and route', 'policy of the method'] as const)('by %s', (counting) => {
  const login = { counting, method: 'POST', path: '/login' } as const
  const deleting = { method: 'DELETE' }
  describe('Express 4, with a header that replaces the method', () =>
    bypassContract(runner, () => overridingExpressLogin(express4, login), deleting))
  describe('Express 5, with a header that replaces the method', () =>
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

describe('a limit of Express in front of the router', () => {
  bypassContract(runner, () => mountedExpressLogin(express, { counting: 'client', method: 'POST', path: '/login' }))
})
