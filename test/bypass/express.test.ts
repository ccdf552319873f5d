import express from 'express'
import { express4 } from '../adapters/express/express4.ts'
import { expressLogin } from './login-apps.ts'
import { runBypasses } from './run-bypasses.ts'

runBypasses({
  'Express 4': (login) => expressLogin(express4, [], login),
  'Express 5': (login) => expressLogin(express, [], login),
  'Express 5, strict': (login) => expressLogin(express, ['case sensitive routing', 'strict routing'], login),
})
