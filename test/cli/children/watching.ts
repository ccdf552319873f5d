import { runCli } from '@sluice/cli'

/** Watches a page until this process receives a signal, and returns the exit code. */
export function watch(url: string): Promise<number> {
  return runCli(['watch', url], { env: {} })
}
