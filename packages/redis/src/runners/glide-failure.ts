import { failureOf, RedisFailure, unansweredFailure } from '../client/redis-failure.ts'

/** Codes of Redis errors to which valkey-glide gives a name of its own. */
const CODES: Readonly<Record<string, string>> = {
  BusyLoadingError: 'LOADING',
  ClusterDown: 'CLUSTERDOWN',
  CrossSlot: 'CROSSSLOT',
  ExecAbortError: 'EXECABORT',
  MasterDown: 'MASTERDOWN',
  NoScriptError: 'NOSCRIPT',
  PermissionDenied: 'NOPERM',
  ReadOnly: 'READONLY',
  ResponseError: 'ERR',
  TryAgain: 'TRYAGAIN',
}

/** Converts an error of valkey-glide. It writes a Redis error as `CODE: text`, or with a description before it. */
export function glideFailure(error: unknown): RedisFailure {
  if (!(error instanceof Error)) return failureOf(error)
  if (error.name === 'TimeoutError' || error.message === 'timed out') return unansweredFailure()
  const [, name = '', text = ''] =
    /^(?:An error was signalled by the server: - )?(\w+): (.*)$/s.exec(error.message) ?? []
  const code = CODES[name] ?? (/^[A-Z]{3,}$/.test(name) ? name : undefined)
  return code === undefined ? failureOf(error) : new RedisFailure(code, `${code} ${text}`)
}
