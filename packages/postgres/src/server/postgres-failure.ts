import { RemoteFailure, type RemoteFailureOptions } from '@sluice/fleet/backend'
import { LATE_STATE } from '../functions/function-names.ts'

/**
 * A failed call to PostgreSQL. `code` is the SQLSTATE of an error of the server, such as `53300` (too many
 * connections), or one of:
 *
 * - `CONNECTION`: nothing was sent, or the connection broke before the reply was received;
 * - `LATE`: the deadline had passed, or no reply arrived in time;
 * - `REPLY`: the reply, or the row of a key, has an unexpected format.
 *
 * There is no `cause`, because errors of the server may contain parameters of the statement, such as keys.
 */
export class PostgresFailure extends RemoteFailure {
  constructor(code: string, message: string, options?: Omit<RemoteFailureOptions, 'cause'>) {
    super(code, message, options)
    this.name = 'PostgresFailure'
  }

  /** Whether the connection failed, so that the server may have lost counts, or another server may reply. */
  get isOfConnection(): boolean {
    return this.mayHaveCounted || ['CONNECTION', ...ENDING].includes(this.code)
  }
}

/** The server is shutting down, has crashed, or does not accept connections yet. */
const ENDING: readonly string[] = ['57P01', '57P02', '57P03']
const SQLSTATE = /^[0-9A-Z]{5}$/
/** Errors before anything was sent: of the operating system, and of a server that refuses a connection. */
const UNSENT: readonly string[] = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  // too many connections, starting up or shutting down, wrong user, password or database
  ...['53300', '57P03', '28000', '28P01', '3D000'],
]
/** Messages of `pg` if no connection became free or was established in time. */
const UNCONNECTED = /^(timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/
/** Missing function, table, schema or right: the tables have not been created, or this user may not use them. */
const UNPREPARED: readonly string[] = ['42883', '42P01', '3F000', '42501']
/** The server refused the transaction because of another one, and the same statement may succeed now. */
const REPEATABLE: readonly string[] = ['40001', '40P01']

/** Converts the rejection value of a client into a `PostgresFailure`. */
export function failureOf(error: unknown): PostgresFailure {
  try {
    return error instanceof PostgresFailure ? error : convertedError(error as ClientError)
  } catch {
    // any value can be thrown, for example undefined or an object whose getters throw
    const message = 'the client rejected with a value that is not an error'
    return new PostgresFailure('CONNECTION', message, { mayHaveCounted: true })
  }
}

interface ClientError {
  readonly code?: unknown
  readonly message?: unknown
  readonly severity?: unknown
}

function convertedError({ code, message, severity }: ClientError): PostgresFailure {
  const text = typeof message === 'string' && message !== '' ? message : String(code)
  if (code === LATE_STATE) return lateFailure()
  if (typeof code === 'string' && SQLSTATE.test(code) && !code.startsWith('E')) {
    const advice = UNPREPARED.includes(code) ? '; call migrate() of the backend, or grant the rights' : ''
    // after an error the transaction is rolled back; a fatal one may end a connection whose transaction has ended
    const mayHaveCounted = severity !== 'ERROR' && !UNSENT.includes(code)
    return new PostgresFailure(code, `${text}${advice}`, { mayHaveCounted })
  }
  // message of the `query_timeout` of pg
  if (text === 'Query read timeout') return unansweredFailure()
  const isUnsent = (typeof code === 'string' && UNSENT.includes(code)) || UNCONNECTED.test(text)
  return new PostgresFailure('CONNECTION', text, { mayHaveCounted: !isUnsent })
}

/** Whether the statement had no effect and may be sent again at once. */
export function isRepeatable({ code }: PostgresFailure): boolean {
  return REPEATABLE.includes(code)
}

/** Creates the failure of a call that PostgreSQL has not counted, because its deadline had passed. */
export function lateFailure(): PostgresFailure {
  return new PostgresFailure('LATE', 'the call reached PostgreSQL after its deadline and was not counted')
}

/** Creates the failure of a request whose row was not written by Sluice. */
export function invalidRow(): PostgresFailure {
  return new PostgresFailure('REPLY', 'the row of the key does not have the cells of its policy', { keyOnly: true })
}

/** Creates the failure of a call without a reply, which PostgreSQL may have counted. */
export function unansweredFailure(): PostgresFailure {
  return new PostgresFailure('LATE', 'PostgreSQL did not reply in time', { mayHaveCounted: true })
}
