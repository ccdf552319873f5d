// Lines of generated code, and the names that they use.

export class CodeLines {
  lines = []
  indent = ''
  used = new Set()

  /** Returns a name that the current text does not use yet. */
  fresh(name) {
    const own = this.nameOf(name)
    let free = own
    for (let number = 2; this.used.has(free); number++) free = `${own}${number}`
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
