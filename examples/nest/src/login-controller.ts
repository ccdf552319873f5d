import { Controller, HttpCode, Post, Query, UnauthorizedException } from '@nestjs/common'
import { RateLimit } from '@sluice/nest'

@Controller('login')
export class LoginController {
  /** The module defines the policy `login`. */
  @Post()
  @HttpCode(200)
  @RateLimit('login')
  logIn(@Query('password') password: string): string {
    if (password !== 'sesame') throw new UnauthorizedException()
    return 'welcome'
  }
}
