import { firstDecisions } from './first-decisions.ts'

firstDecisions({ starts: 21, enough: 20 })
