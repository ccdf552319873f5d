import { describe, test } from '@jest/globals'
import { adapterContract } from '@sluice/testkit'
import Koa from 'koa'
import { running } from '../running-app.ts'
import { koaApp } from './koa-app.ts'
import { koaCases } from './koa-cases.ts'

describe('Koa 3', () => {
  adapterContract({ describe, test }, (description) => running(koaApp(new Koa(), description)))
  koaCases(Koa)
})
