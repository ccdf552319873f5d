import { firstDecisions } from './first-decisions.ts'

firstDecisions({ starts: 40, enough: 20 })
