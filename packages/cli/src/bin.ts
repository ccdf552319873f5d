#!/usr/bin/env node
import { runCli } from './run-cli.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // the reader has ended, as in `sluice watch --json | head -1`
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

void runCli(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode
})
