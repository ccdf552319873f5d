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

  /** A client that leaves frees no place before its report is written: who asks and leaves starts no third one. */
  @Get()
  @InflightLimit({ name: 'reports', limit: 2, status: 429, holdUntil: 'handler' })
  report(): Promise<string> {
    return this.#reports.write()
  }
}
