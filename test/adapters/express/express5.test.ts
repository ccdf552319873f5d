import { describe, test } from '@jest/globals'
import { adapterContract } from '@sluice/testkit'
import express from 'express'
import { running } from '../running-app.ts'
import { expressApp } from './express-app.ts'
import { expressCases } from './express-cases.ts'
import { expressProxies } from './express-proxies.ts'

describe('Express 5', () => {
  adapterContract({ describe, test }, (description) => running(expressApp(express(), description)))
  expressCases(express)
  expressProxies(express)
})
