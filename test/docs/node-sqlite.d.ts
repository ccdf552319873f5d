// The part of the module that blocks of the documentation use: the types of Node.js 20 do not have it.
declare module 'node:sqlite' {
  export class DatabaseSync {
    constructor(path: string)
    exec(sql: string): void
    prepare(sql: string): {
      get(...values: (string | number | Uint8Array)[]): unknown
      run(...values: (string | number | Uint8Array)[]): unknown
    }
    close(): void
  }
}
