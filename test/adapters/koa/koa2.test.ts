import { describe, test } from '@jest/globals'
import { adapterContract } from '@sluice/testkit'
import { running } from '../running-app.ts'
import { koaApp } from './koa-app.ts'
import { koaCases } from './koa-cases.ts'
import { Koa2 } from './koa2.ts'

describe('Koa 2', () => {
  adapterContract({ describe, test }, (description) => running(koaApp(new Koa2(), description)))
  koaCases(Koa2)
})
