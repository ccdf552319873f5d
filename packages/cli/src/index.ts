export { type DiffOptions, diffCommand } from './replay/diff-command.ts'
export { type LogOptions, type ReplayOptions, replayCommand } from './replay/replay-command.ts'
export type { DiffReport } from './report/diff-report.ts'
export type { ReplayReport } from './report/replay-report.ts'
