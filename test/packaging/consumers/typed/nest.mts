import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { InflightLimit, RateLimit, SluiceModule } from '@sluice/nest'

@Controller()
class HomeController {
  @Get()
  @RateLimit('home')
  @InflightLimit({ name: 'home', limit: 9 })
  home(): string {
    return 'hello'
  }
}

const policies = [{ name: 'home', limit: 1, window: '1m' }] as const

@Module({
  imports: [SluiceModule.forRoot({ policies, rateLimit: { limit: 100, window: '1m' } })],
  controllers: [HomeController],
})
class AppModule {}

async function serve(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] })
  await app.listen(0, '127.0.0.1')
  console.log((app.getHttpServer().address() as AddressInfo).port)
  process.stdin.resume().once('end', () => app.close())
}

serve()
