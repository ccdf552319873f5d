export { type CliOptions, runCli } from './run-cli.ts'
export type { Output } from './terminal/terminal.ts'
