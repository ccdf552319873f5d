// Jest's environment for Node, in which the test files of a worker share compiled code. Jest compiles each module again
// for each test file, which is a third of the CPU time of a short file.
import vm from 'node:vm'
import { TestEnvironment } from 'jest-environment-node'

const { compileFunction } = vm

const RUNNER = '/jest-circus/build/jestAdapterInit.js'
const OWN_GLOBAL = /^(?:class Error|const Promise)\b/m
const ASYNC_CONTEXT = 'new _nodeAsync_hooks.AsyncLocalStorage()'

// once per process, although each test file has its own environment
if (compileFunction.name !== 'compileShared') vm.compileFunction = compileShared

/** Compiled modules by file, with the text that they were compiled from. `script` is undefined if it cannot be shared. */
const modules = new Map()

/** Like `vm.compileFunction`, except that a file is compiled once for all contexts. */
function compileShared(original, params, options) {
  const { filename, parsingContext } = options ?? {}
  if (!parsingContext) return compileFunction(original, params, options)
  let module = modules.get(filename)
  if (module?.original !== original) {
    module = moduleOf(original, params, filename)
    // a worker runs a test file once
    if (!filename.endsWith('.test.ts')) modules.set(filename, module)
  }
  return module.script?.runInContext(parsingContext) ?? compileFunction(module.code, params, options)
}

function moduleOf(original, params, filename) {
  const code = filename.endsWith(RUNNER) ? withPlainContext(original) : withOwnGlobal(original)
  // V8 shares no code whose `import()` has a handler
  if (code.includes('import(')) return { original, code }
  const head = `(function (${params.join(', ')}) {`
  // the offset keeps the columns of the first line in stack traces
  const script = new vm.Script(`${head}${code}\n})`, { filename, columnOffset: -head.length })
  return { original, script }
}

/**
 * Node 20 runs hooks for every promise as soon as an `AsyncLocalStorage` is in use, and jest keeps the running test in
 * one. Tests run one after the other, so that a variable is enough: awaits take less than half of the time.
 */
function withPlainContext(code) {
  if (!code.includes(ASYNC_CONTEXT)) throw new Error(`${RUNNER} keeps its tests in another way`)
  return code.replace(ASYNC_CONTEXT, `new (${PlainContext})()`)
}

/** A module may declare the name of an injected global, such as mysql2 and memcache-client: in a block it may. */
function withOwnGlobal(code) {
  return OWN_GLOBAL.test(code) ? `{${code}\n}` : code
}

class PlainContext {
  getStore() {
    return this.store
  }

  run(store, callback) {
    const outer = this.store
    this.store = store
    return callback().finally(() => {
      this.store = outer
    })
  }
}

export default TestEnvironment
