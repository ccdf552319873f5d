import { Module } from '@nestjs/common'
import { SluiceModule } from '@sluice/nest'
import { LoginController } from './login-controller.ts'
import { PagesController } from './pages-controller.ts'
import { ReportsController } from './reports-controller.ts'

@Module({
  imports: [
    SluiceModule.forRoot({
      rateLimit: { name: 'address', limit: 20, window: '1m', algorithm: 'fixed-window' },
      policies: [{ name: 'login', limit: 5, window: '15m' }],
    }),
  ],
  controllers: [PagesController, LoginController, ReportsController],
})
export class AppModule {}
