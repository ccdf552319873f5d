import type { AsyncResource } from 'node:async_hooks'
import { builtIn } from './built-in.ts'

const hooks = builtIn('node:async_hooks')
// a timer retains the async context in which it is created, including request data, so timers are created in this one
const outside = hooks && contextOfLoading(hooks)

function contextOfLoading({ AsyncResource }: typeof import('node:async_hooks')): AsyncResource {
  class ContextOfLoading extends AsyncResource {
    /** Whether the resource keeps the process alive. Jest reports resources without this method as open handles. */
    hasRef(): boolean {
      return false
    }
  }
  return new ContextOfLoading('sluice.clock', { requireManualDestroy: true })
}

/** Runs a function outside of the async context of a request. */
export function outsideContext(run: () => unknown): void {
  if (outside) outside.runInAsyncScope(run)
  else run()
}

/** Returns a function that calls `run` in the current async context. */
export function inThisContext<Arg>(run: (arg: Arg) => void): (arg: Arg) => void {
  return hooks ? hooks.AsyncResource.bind<(arg: Arg) => void, undefined>(run) : run
}
