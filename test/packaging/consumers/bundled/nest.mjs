import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { RateLimit, SluiceModule } from '@sluice/nest'
import { askedTwice } from './asked.mjs'

class HomeController {
  home() {
    return 'hello'
  }
}
const home = Object.getOwnPropertyDescriptor(HomeController.prototype, 'home')
Get()(HomeController.prototype, 'home', home)
RateLimit({ limit: 1, window: '1m' })(HomeController.prototype, 'home', home)
Controller()(HomeController)

class AppModule {}
Module({ imports: [SluiceModule.forRoot({ inflightLimit: { limit: 10 } })], controllers: [HomeController] })(AppModule)

export async function statuses() {
  const app = await NestFactory.create(AppModule, { logger: ['error'] })
  await app.listen(0, '127.0.0.1')
  const asked = await askedTwice(() => fetch(`http://127.0.0.1:${app.getHttpServer().address().port}/`))
  await app.close()
  return asked
}
