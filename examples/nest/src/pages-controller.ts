import { Controller, Get } from '@nestjs/common'
import { SkipLimits } from '@sluice/nest'

@Controller()
export class PagesController {
  /** 20 requests a minute per address, shared with the other routes. */
  @Get()
  index(): Record<string, string> {
    return {
      'GET /': 'this list',
      'GET /health': 'never limited',
      'POST /login?password=…': 'five in a quarter of an hour',
      'GET /reports': 'two at once',
    }
  }

  @Get('health')
  @SkipLimits()
  health(): string {
    return 'well'
  }
}
