import { firstDecisions } from './first-decisions.ts'

// on a busy machine no start is within the default deadline, as in first-decisions.long.ts
firstDecisions({ starts: 1, enough: 1, deadlineMs: 20_000 })
