import { firstDecisions } from './first-decisions.ts'

firstDecisions(20)
