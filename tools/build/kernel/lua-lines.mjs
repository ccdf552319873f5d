// Lines of Lua code, and the names that they use.
import { nameOf } from './scope.mjs'

export class LuaLines {
  lines = []
  indent = ''
  used = new Set()

  /** Returns a Lua name that the current text does not use yet. */
  fresh(name) {
    const lua = nameOf(name)
    let free = lua
    for (let number = 2; this.used.has(free); number++) free = `${lua}${number}`
    this.used.add(free)
    return free
  }

  line(text) {
    this.lines.push(this.indent + text)
  }

  begin(text) {
    this.line(text)
    this.indent += '  '
  }

  middle(text) {
    this.indent = this.indent.slice(2)
    this.begin(text)
  }

  end(text) {
    this.indent = this.indent.slice(2)
    this.line(text)
  }

  take() {
    const text = this.lines.join('\n')
    this.lines = []
    return text
  }
}
