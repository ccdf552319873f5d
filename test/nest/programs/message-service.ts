// A service that answers two messages per minute. Prints its port.
import 'reflect-metadata'
import type { AddressInfo, Server } from 'node:net'
import { Controller, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { MessagePattern, type MicroserviceOptions, Transport } from '@nestjs/microservices'
import { SluiceModule } from '@sluice/nest'

@Controller()
class Orders {
  @MessagePattern('order')
  order(): string {
    return 'order'
  }
}

@Module({
  imports: [SluiceModule.forRoot({ contexts: { rpc: { rateLimit: { limit: 2, window: '1m' } } } })],
  controllers: [Orders],
})
class ServiceModule {}

async function start(): Promise<void> {
  const service = await NestFactory.createMicroservice<MicroserviceOptions>(ServiceModule, {
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port: 0 },
    logger: ['error'],
  })
  await service.listen()
  console.log((service.unwrap<Server>().address() as AddressInfo).port)
}

void start()
