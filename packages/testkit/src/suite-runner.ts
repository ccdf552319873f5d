/** The test functions of jest, vitest, mocha or `node:test`, as far as the contracts use them. */
export interface TestRunner {
  describe(name: string, define: () => void): unknown
  test(name: string, run: () => void | Promise<void>): unknown
}
