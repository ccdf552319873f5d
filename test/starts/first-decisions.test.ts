import { firstDecisions } from './first-decisions.ts'

// other tests run at the same time; a start that is always late fails all attempts
firstDecisions({ starts: 5, enough: 2 })
