import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app-module.ts'

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
app.enableShutdownHooks()
await app.listen(Number(process.env.PORT || 3000))
const { port } = app.getHttpServer().address() as AddressInfo
console.log(`Listening on http://localhost:${port}, try: curl -i http://localhost:${port}/`)
