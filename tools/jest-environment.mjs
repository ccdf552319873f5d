// Jest's environment for Node, in which the test files of a worker share compiled code. Jest compiles each module again
// for each test file, which is a third of the CPU time of a short file.
import vm from 'node:vm'
import { TestEnvironment } from 'jest-environment-node'

const { compileFunction } = vm

// once per process, although each test file has its own environment
if (compileFunction.name !== 'compileShared') vm.compileFunction = compileShared

/** Like `vm.compileFunction`, except that V8 returns the code that it compiled for an earlier context. */
function compileShared(code, params, options) {
  // V8 shares no code whose `import()` has a handler
  if (!options?.parsingContext || code.includes('import(')) return compileFunction(code, params, options)
  const head = `(function (${params.join(', ')}) {`
  const { filename, parsingContext } = options
  // the offset keeps the columns of the first line in stack traces
  const script = new vm.Script(`${head}${code}\n})`, { filename, columnOffset: -head.length })
  return script.runInContext(parsingContext)
}

export default TestEnvironment
