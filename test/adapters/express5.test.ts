import { describe, test } from '@jest/globals'
import { adapterContract } from '@sluice/testkit'
import express from 'express'
import { expressApp } from './express-app.ts'
import { expressProxies } from './express-proxies.ts'
import { expressSentences } from './express-sentences.ts'
import { running } from './running-app.ts'

describe('Express 5', () => {
  adapterContract({ describe, test }, (description) => running(expressApp(express(), description)))
  expressSentences(express)
  expressProxies(express)
})
