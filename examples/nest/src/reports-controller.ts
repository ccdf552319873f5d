import { setTimeout } from 'node:timers/promises'
import { Controller, Get } from '@nestjs/common'
import { InflightLimit } from '@sluice/nest'

class Reports {
  async write(): Promise<string> {
    await setTimeout(300)
    return 'a report'
  }
}

@Controller('reports')
export class ReportsController {
  readonly #reports = new Reports()

  /** The permit is held until the report is written, even if the client disconnects, so that a third one cannot start. */
  @Get()
  @InflightLimit({ name: 'reports', limit: 2, status: 429, holdUntil: 'handler' })
  report(): Promise<string> {
    return this.#reports.write()
  }
}
